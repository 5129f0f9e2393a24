"""Options of the local measures that two minibatches give."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, PositiveInt

from flatlas.plan.measurements.measurement import Many, Measurement, UnderScaling
from flatlas.plan.spec import Distinct


class Regret(UnderScaling):
    """The local regret ‖g₂‖ (1 − cos(g₁, g₂)) of `pairs` of minibatches of `batch` images from S.

    In a KL-ball too, for each λ among the `dampings` of the Fisher matrix, F + λ diag F.
    """

    measure: Literal["regret"]
    batch: PositiveInt = 32
    pairs: Annotated[int, Field(ge=2)] = 100
    dampings: Annotated[tuple[NonNegativeFloat, ...], Many, Distinct] = (0.0, 100.0)


class TrueRegret(Measurement):
    """f₂(argmin f₁) − min f₂ in balls of some `radii` ε about θ, for `pairs` of minibatches."""

    measure: Literal["true_regret"]
    batch: PositiveInt = 32
    pairs: PositiveInt = 20
    radii: Annotated[tuple[Annotated[float, Field(gt=0)], ...], Many, Distinct]


class RegretSlice(Measurement):
    """The losses of two minibatches about θ, on the plane of their gradients; ε is the `radius`."""

    measure: Literal["regret_slice"]
    batch: PositiveInt = 32
    radius: Annotated[float, Field(gt=0)]


class ContrastiveFlatness(UnderScaling):
    """The mean flatness of the losses of `minibatches` over the flatness of their mean, that on S.

    Flatness is the trace and the norm of the Hessian, and the sharpness in a `box`.
    """

    measure: Literal["contrastive_flatness"]
    batch: PositiveInt = 32
    minibatches: Annotated[int, Field(ge=2)] = 20
    box: Annotated[float, Field(gt=0)]
