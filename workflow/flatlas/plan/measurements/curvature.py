"""The measures of how sharp the loss on S is around a solution."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from flatlas.plan.bounds import AtLeastTwo, Count, Images, Positive
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.measurements.measurement import SEARCH, Factors, Measurement, columns
from flatlas.plan.training_specs import Rate, RunSpec

# The accuracy of a product in float32, relative to its length.
SINGLE = 1e-4


class Sharpness(Measurement):
    """The largest rise of the loss on S in a `box` ε: |Δw_i| ≤ ε (|w_i| + 1).

    `sgd`: minibatch ascent; only it uses `batch` and `lr`. `lbfgs`: L-BFGS-B. `corners`: from
    corner to corner of the box.
    """

    measure: Literal["sharpness"]
    by: Literal["sgd", "lbfgs", "corners"] = "sgd"
    box: Positive
    batch: Images = 32
    lr: Rate = 1e-3
    epochs: Count = 100

    tables: ClassVar = {
        "summary": columns(
            sharpness=float,
            last=float,
            first_order=float,
            rest=float,
            gradient_norm=float,
            loss=float,
            box=float,
            **SEARCH,
        ),
        "ascent": columns(epoch_of_ascent=int, value=float),
    }

    @property
    def vectors(self) -> int:
        """As measured."""
        return 55 if self.by == "lbfgs" else 20

    @property
    def passes(self) -> int:
        """An upper bound: searches without minibatches converge long before."""
        return self.epochs


class OfHessian(Measurement):
    """What measures of the Hessian in all parameters share: its `top` eigenvalues, by Lanczos.

    They have converged if no residual exceeds the `tolerance`, relative to the spectral norm. A
    trace or Frobenius norm without a closed form is estimated with `probes`.
    """

    top: Count = 50
    tolerance: Annotated[float, Field(gt=0, le=1)] = 1e-8
    probes: AtLeastTwo = 100

    @property
    def vectors(self) -> int:
        """Lanczos keeps up to twenty for each eigenvalue, and their products with the Hessian."""
        return 10 + 40 * self.top

    @property
    def passes(self) -> int:
        """Each product with the Hessian counts as two; Lanczos takes about twenty an eigenvalue."""
        return 2 * (20 * self.top + self.probes)


class Hessian(OfHessian):
    """Norms of the Hessian of the loss on S in all parameters, and its `top` eigenvalues.

    `precision: float32`, for nets with convolutions, is six times as fast, with errors up to 1e-4:
    set a `tolerance` of at least that.
    """

    measure: Literal["hessian"]
    precision: Literal["float32"] | None = None

    tables: ClassVar = {
        "summary": columns(
            spectral_norm=float,
            spectral_norm_residual=float,
            log10_product=float,
            positive=int,
            trace=float,
            trace_error=float,
            frobenius=float,
            frobenius_error=float,
            loss=float,
            gradient_norm=float,
            **SEARCH,
        ),
        "eigenvalues": columns(rank=int, eigenvalue=float, residual=float),
    }

    @model_validator(mode="after")
    def _precise_enough(self) -> "Hessian":
        if self.precision and self.tolerance < SINGLE:
            raise ValueError(
                f"in {self.precision} products are right to {SINGLE}: give a tolerance of that or "
                "more, or leave precision out"
            )
        return self

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """Dense networks have a closed form, which is fast in float64."""
        yield from super().misfits(run)
        if self.precision and run.net.only_dense:
            yield "precision", "is of nets with convolutions: leave it out."


class SpectralDensity(OfHessian):
    """The density of the eigenvalues, by Lanczos: `steps` from each of the `probes`.

    Each counts as a normal distribution of `width` times the spectral norm.
    """

    measure: Literal["spectral_density"]
    probes: AtLeastTwo = 10
    steps: Count = 80
    width: Annotated[float, Field(gt=0, le=0.5)] = 0.01

    tables: ClassVar = {
        "density": columns(eigenvalue=float, density=float),
        "summary": columns(
            size=int,
            width=float,
            trace=float,
            trace_error=float,
            frobenius=float,
            frobenius_error=float,
            spectral_norm=float,
            lowest=float,
            edge=float,
            outliers=int,
            bulk=float,
            bulk_error=float,
            **SEARCH,
        ),
    }

    @property
    def vectors(self) -> int:
        """The vectors of a probe's steps are kept, too."""
        return max(super().vectors, 10 + 2 * self.steps)

    @property
    def passes(self) -> int:
        """Each probe takes all the steps."""
        return 2 * (20 * self.top + self.probes * self.steps)


class NormScaling(OfHessian):
    """Loss and Hessian at c w for the `factors` c, beside their limits as c → ∞."""

    measure: Literal["norm_scaling"]
    top: Count = 5
    factors: Factors

    tables: ClassVar = {
        "summary": columns(
            factor=float,
            depth=int,
            weight_norm=float,
            loss=float,
            loss_predicted=float,
            spectral_norm=float,
            spectral_norm_predicted=float,
            trace=float,
            trace_predicted=float,
            frobenius=float,
            frobenius_error=float,
            frobenius_predicted=float,
            **SEARCH,
            least_margin=float,
            misclassified=int,
        )
    }
    of_any_module = False

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The theory holds for homogeneous networks with one output per class."""
        yield from super().misfits(run)
        net = run.net
        if not isinstance(net, DenseNet) or (net.bias and net.hidden):
            yield "measure", "is of dense nets without biases, or with one layer: say bias: false."
        elif run.outputs == 1:
            yield "measure", "is of nets with an output a class: leave out data.positive."
