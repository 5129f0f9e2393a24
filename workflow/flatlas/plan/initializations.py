"""How the weights of a layered net are drawn before training."""

from typing import Annotated, Literal

from pydantic import Field

from flatlas.plan.bounds import NonNegative, Positive
from flatlas.plan.spec import Spec


class XavierUniform(Spec):
    """w ~ U(−a, a), a = `scale` · √(6 / (n_in + n_out)); biases 0."""

    scheme: Literal["xavier_uniform"]
    scale: Positive = 1.0


class HeNormal(Spec):
    """w ~ N(0, 2/n_in); biases ~ N(0, bias_std²)."""

    scheme: Literal["he_normal"]
    bias_std: NonNegative = 1.0


class ScaledNormal(Spec):
    """w ~ N(0, weight_std²/n_in); biases ~ N(0, bias_std²)."""

    scheme: Literal["scaled_normal"]
    weight_std: Positive = 1.0
    bias_std: NonNegative = 0.1


class FrameworkUniform(Spec):
    """PyTorch's default: w and b ~ U(−a, a), a = `scale`/√n_in."""

    scheme: Literal["framework_uniform"]
    scale: Positive = 1.0


InitSpec = Annotated[
    XavierUniform | HeNormal | ScaledNormal | FrameworkUniform, Field(discriminator="scheme")
]
