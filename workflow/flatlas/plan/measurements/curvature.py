"""Options of the measures of how sharp the loss on S is about a solution."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from flatlas.plan.measurements.measurement import Measurement
from flatlas.plan.training_specs import Rate


class Sharpness(Measurement):
    """The largest rise of the loss on S within a box |Δw_i| ≤ ε (|w_i| + 1), with ε the `box`.

    It is looked for `by` minibatch ascent (`sgd`), by L-BFGS-B or from corner to corner of the box
    (`corners`); only `sgd` needs `batch` and `lr`.
    """

    measure: Literal["sharpness"]
    by: Literal["sgd", "lbfgs", "corners"] = "sgd"
    box: Annotated[float, Field(gt=0)]
    batch: PositiveInt = 32
    lr: Rate = 1e-3
    epochs: PositiveInt = 100


class Hessian(Measurement):
    """Norms of the Hessian of the loss on S in all parameters, and its `top` eigenvalues.

    Where trace and Frobenius norm have no closed form, they are estimated with `probes`.
    """

    measure: Literal["hessian"]
    top: PositiveInt = 50
    probes: Annotated[int, Field(ge=2)] = 100
