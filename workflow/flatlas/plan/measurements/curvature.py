"""Options of the measures of how sharp the loss on S is about a solution."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from flatlas.plan.measurements.measurement import Factors, Measurement
from flatlas.plan.net_specs import DenseNet
from flatlas.plan.training_specs import Rate, RunSpec

Probes = Annotated[int, Field(ge=2)]


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


class OfHessian(Measurement):
    """What measures of the Hessian in all parameters share: its `top` eigenvalues, by Lanczos.

    They have converged with residuals up to the `tolerance`, relative to the spectral norm. Where
    the trace or the Frobenius norm has no closed form, they are estimated with `probes`.
    """

    top: PositiveInt = 50
    tolerance: Rate = 1e-8
    probes: Probes = 100

    @property
    def vectors(self) -> int:
        """Lanczos keeps up to twenty for each eigenvalue, and what the Hessian makes of them."""
        return 10 + 40 * self.top


class Hessian(OfHessian):
    """Norms of the Hessian of the loss on S in all parameters, and its `top` eigenvalues."""

    measure: Literal["hessian"]


class SpectralDensity(OfHessian):
    """How dense the eigenvalues lie, by `steps` of Lanczos from each of the `probes`.

    Each is seen as a normal distribution, as wide as the spectral norm times `width`.
    """

    measure: Literal["spectral_density"]
    probes: Probes = 10
    steps: PositiveInt = 80
    width: Annotated[float, Field(gt=0, le=0.5)] = 0.01


class NormScaling(OfHessian):
    """Loss and Hessian of the solution c w, for the `factors` c, beside what they are as c → ∞."""

    measure: Literal["norm_scaling"]
    top: PositiveInt = 5
    factors: Factors

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The theory is that of homogeneous nets."""
        yield from super().misfits(run)
        net = run.net
        if not isinstance(net, DenseNet) or (net.bias and net.hidden):
            yield "measure", "is of dense nets without biases, or with one layer: say bias: false."
        elif run.outputs == 1:
            yield "measure", "is of nets with an output a class: leave out data.positive."
