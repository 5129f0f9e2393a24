"""The measures of how sharp the loss on S is around a solution."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from flatlas.plan.bounds import AtLeastTwo, Count, Images, Positive, UpToOne
from flatlas.plan.columns import LOSS, Column, columns, search
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.measurements.measurement import Factors, Measurement
from flatlas.plan.training_specs import Rate, RunSpec

# The accuracy of a product in float32, relative to its length.
SINGLE = 1e-4

# Columns of several tables.
GRADIENT_NORM = Column(float, "‖∇L‖ on S, over all weights and biases", "nat/w")
SPECTRAL_NORM = Column(float, "largest |λ|", "nat/w²")
TRACE = Column(float, "sum of all eigenvalues λ", "nat/w²")
TRACE_ERROR = Column(float, "standard error of the trace; 0 if it is exact", "nat/w²")
FROBENIUS = Column(float, "root of the sum of all λ²", "nat/w²")
FROBENIUS_ERROR = Column(float, "standard error of the Frobenius norm; 0 if it is exact", "nat/w²")
RESIDUAL_OF_TOP = "largest |Hv − λv| of the `top` eigenvalues"


class Sharpness(Measurement):
    """100 · rise / (1 + L): the largest rise of L, on S, in a `box` ε with |Δw_i| ≤ ε (|w_i| + 1).

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
            sharpness=(float, "100 (max L − L) / (1 + L), with the largest loss found", "%"),
            last=(float, "the same with the loss where the ascent ends", "%"),
            first_order=(float, "100 Σ |∂L/∂w_i| ε (|w_i| + 1) / (1 + L), the slope's part", "%"),
            rest=(float, "sharpness − first_order", "%"),
            gradient_norm=GRADIENT_NORM,
            loss=LOSS,
            box=(float, "ε, the option `box`"),
            **search(
                "how far the best loss before the last tenth of the ascent, or the median of that "
                "tenth, is below the largest, as a share of the rise"
            ),
        ),
        "ascent": columns(
            epoch_of_ascent=(int, "epochs of the ascent; iterations of L-BFGS-B; corners"),
            value=(float, "L at w + Δw", "nat"),
        ),
    }

    @property
    def vectors(self) -> int:
        """As measured."""
        return 55 if self.by == "lbfgs" else 20

    @property
    def passes(self) -> int:
        """An upper bound: searches without minibatches converge much earlier."""
        return self.epochs


class OfHessian(Measurement):
    """What measures of the Hessian in all parameters share: its `top` eigenvalues, by Lanczos.

    They have converged if no residual exceeds the `tolerance`, relative to the spectral norm. A
    trace or Frobenius norm without a closed form is estimated with `probes`.
    """

    top: Count = 50
    tolerance: UpToOne = 1e-8
    probes: AtLeastTwo = 100

    @property
    def vectors(self) -> int:
        """Lanczos keeps up to twenty per eigenvalue, and their products with the Hessian."""
        return 10 + 40 * self.top

    @property
    def passes(self) -> int:
        """Lanczos takes about twenty Hessian products per eigenvalue, of two passes each."""
        return 2 * (20 * self.top + self.probes)


class Hessian(OfHessian):
    """Norms of the Hessian of the loss on S in all parameters, and its `top` eigenvalues.

    `precision: float32`, for nets with convolutions, is six times as fast on a core and one to
    three times on a GPU, with errors up to 1e-4: set a `tolerance` of at least that.
    """

    measure: Literal["hessian"]
    precision: Literal["float32"] | None = None

    tables: ClassVar = {
        "summary": columns(
            spectral_norm=SPECTRAL_NORM,
            spectral_norm_residual=(float, "|Hv − λv| of that eigenvalue", "nat/w²"),
            log10_product=(float, "log10 of the product of the positive `top` eigenvalues"),
            positive=(int, "how many of the `top` eigenvalues are positive beyond round-off"),
            trace=TRACE,
            trace_error=TRACE_ERROR,
            frobenius=FROBENIUS,
            frobenius_error=FROBENIUS_ERROR,
            loss=LOSS,
            gradient_norm=GRADIENT_NORM,
            **search(RESIDUAL_OF_TOP, "nat/w²"),
        ),
        "eigenvalues": columns(
            rank=(int, "rank of λ, from 1 for the largest"),
            eigenvalue=(float, "λ", "nat/w²"),
            residual=(float, "|Hv − λv|", "nat/w²"),
        ),
    }

    @model_validator(mode="after")
    def _precise_enough(self) -> "Hessian":
        if self.precision and self.tolerance < SINGLE:
            raise ValueError(
                f"in {self.precision} products are accurate to {SINGLE}: give a tolerance of at "
                "least that, or leave precision out"
            )
        return self

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """Dense networks have a closed form, which is fast in float64."""
        if self.precision and run.net.only_dense:
            yield "precision", "is only for nets with convolutions: leave it out."


class SpectralDensity(OfHessian):
    """The density of the Hessian's eigenvalues, by `steps` of Lanczos from each of the `probes`.

    Each eigenvalue counts as a normal distribution; its standard deviation is `width` times the
    spectral norm.
    """

    measure: Literal["spectral_density"]
    probes: AtLeastTwo = 10
    steps: Count = 80
    width: Annotated[float, Field(gt=0, le=0.5)] = 0.01

    tables: ClassVar = {
        "density": columns(
            eigenvalue=(float, "λ, at a point of the grid", "nat/w²"),
            density=(
                float,
                "φ(λ): its integral over an interval is the share of λ there",
                "w²/nat",
            ),
        ),
        "summary": columns(
            size=(int, "number of eigenvalues, one for each parameter"),
            width=(float, "standard deviation of the smoothing", "nat/w²"),
            trace=TRACE,
            trace_error=TRACE_ERROR,
            frobenius=FROBENIUS,
            frobenius_error=FROBENIUS_ERROR,
            spectral_norm=SPECTRAL_NORM,
            lowest=(float, "smallest λ", "nat/w²"),
            edge=(float, "six standard deviations of all λ, estimated from the probes", "nat/w²"),
            outliers=(int, "how many of the `top` eigenvalues are beyond the edge"),
            bulk=(float, "share of the λ within 1 % of the spectral norm from 0"),
            bulk_error=(float, "standard error of the bulk"),
            **search(RESIDUAL_OF_TOP, "nat/w²")
            | columns(
                converged=(bool, "whether it is small enough, and not all `top` are outliers")
            ),
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
    """Loss and Hessian at c w for the `factors` c, and their limits as c → ∞."""

    measure: Literal["norm_scaling"]
    top: Count = 5
    factors: Factors

    tables: ClassVar = {
        "summary": columns(
            factor=(float, "c"),
            depth=(int, "number of layers"),
            weight_norm=(float, "‖c w‖ of all weights and biases", "w"),
            loss=LOSS,
            loss_predicted=(float, "its limit for large c", "nat"),
            spectral_norm=SPECTRAL_NORM,
            spectral_norm_predicted=(float, "its limit for large c", "nat/w²"),
            trace=TRACE,
            trace_predicted=(float, "its limit for large c", "nat/w²"),
            frobenius=FROBENIUS,
            frobenius_error=FROBENIUS_ERROR,
            frobenius_predicted=(float, "its limit for large c", "nat/w²"),
            **search("|Hv − λv| of the spectral norm", "nat/w²"),
            least_margin=(float, "smallest margin on S at c = 1, as `margin_least` of `norms`"),
            misclassified=(int, "images of S whose margin is not positive"),
        )
    }
    of_any_module = False

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The theory holds for homogeneous networks with one output per class."""
        net = run.net
        if not isinstance(net, DenseNet) or (net.bias and net.hidden):
            yield (
                "measure",
                "is only for dense nets without biases or with one layer: set bias: false.",
            )
        elif run.outputs == 1:
            yield "measure", "is only for nets with one output per class: leave out data.positive."
