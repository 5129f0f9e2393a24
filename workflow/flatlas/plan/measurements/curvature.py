"""Options of the measures of how sharp the loss on S is about a solution."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from flatlas.plan.measurements.measurement import Factors, Measurement
from flatlas.plan.net_specs import DenseNet
from flatlas.plan.training_specs import Rate, RunSpec

# To what a product in float32 is right, relative to its length.
SINGLE = 1e-4

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

    @property
    def passes(self) -> int:
        """Other searches than by minibatches have converged long before."""
        return self.epochs


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

    @property
    def passes(self) -> int:
        """A product with the Hessian is two; Lanczos takes some twenty for each eigenvalue."""
        return 2 * (20 * self.top + self.probes)


class Hessian(OfHessian):
    """Norms of the Hessian of the loss on S in all parameters, and its `top` eigenvalues.

    With the `precision` float32, for nets with convolutions, its products take a sixth of the time
    of those in float64, and are right to 1e-4 of their length.
    """

    measure: Literal["hessian"]
    precision: Literal["float32"] | None = None

    @model_validator(mode="after")
    def _precise_enough(self) -> "Hessian":
        if self.precision and self.tolerance < SINGLE:
            raise ValueError(
                f"in {self.precision} products are right to {SINGLE}: give a tolerance of that or "
                "more, or leave precision out"
            )
        return self

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """A net of dense layers has a closed form, which is quick and in float64."""
        yield from super().misfits(run)
        if self.precision and isinstance(run.net, DenseNet):
            yield "precision", "is of nets with convolutions: leave it out."


class SpectralDensity(OfHessian):
    """How dense the eigenvalues lie, by `steps` of Lanczos from each of the `probes`.

    Each is seen as a normal distribution, as wide as the spectral norm times `width`.
    """

    measure: Literal["spectral_density"]
    probes: Probes = 10
    steps: PositiveInt = 80
    width: Annotated[float, Field(gt=0, le=0.5)] = 0.01

    @property
    def passes(self) -> int:
        """As many steps from each probe."""
        return 2 * (20 * self.top + self.probes * self.steps)


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
