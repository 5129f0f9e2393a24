"""The measures of the activity-weight duality."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from flatlas.plan.bounds import LARGEST, AtLeastTwo, Count, Images, UpToOne
from flatlas.plan.columns import Column, columns
from flatlas.plan.families.own import Own
from flatlas.plan.measurements.measurement import (
    BOTH_ENDS,
    Factors,
    Many,
    Measurement,
    skipped,
    without_next,
)
from flatlas.plan.source_sizes import images_to_test_on
from flatlas.plan.spec import Distinct
from flatlas.plan.training_specs import RunSpec

Matrix = Literal["hessian", "fisher"]
# The matrix, its eigenvectors and the workspace of the eigensolver; 4.2 were measured.
DECOMPOSED = 5
# Numbers for each test image and weight of the layer: the dual shifts and their components.
PAIRED = 3

# Columns of several tables. A pair is a test image x′ and its training partner x, with losses l.
N = Column(int, "n, the rank of the direction, from 1, by descending σ_g")
EIGENVALUE = Column(float, "H_n, the eigenvalue of the matrix `directions`", "nat/w²")
SIGMA_G = Column(float, "σ_g, the standard deviation of g_n over pairs", "nat/w")
SIGMA_W = Column(float, "σ_w, the standard deviation of Δw_n over pairs", "w")
MU_G = Column(float, "µ_g, the mean of g_n over pairs; its sign is arbitrary", "nat/w")
MU_W = Column(float, "µ_w, the mean of Δw_n over pairs; its sign is arbitrary", "w")
GAP = Column(float, "ΔL_n = c_n σ_g σ_w, the part of the gap along n", "nat")
PAIRS = Column(int, "test images with a training partner")
ZERO_PAIRS = Column(int, "pairs with Δw = 0")
PAIRWISE_GAP = Column(float, "ΔL̃, the mean of l(x′) − l(x) over pairs", "nat")
DUAL_GAP = Column(float, "ΔL = Σ ΔL_n", "nat")
MU_GAP = Column(float, "Σ µ_g µ_w, what the means add to the gap", "nat")
T_G = Column(float, "T_g = Σ σ_g²", "nat²/w²")
T_H = Column(float, "T_h = Σ H_n", "nat/w²")
N_TEST = Column(int, "N_te, the number of test images taken")
SCALE = Column(float, "s_w, the share of Δw")


class Duality(Measurement):
    """The activity-weight duality of a dense layer along the eigenvectors of a matrix.

    `sharp`: n_s, the number of sharp directions; `steepest`: where sigma_g drops most steeply.
    """

    measure: Literal["duality"]
    layer: str
    directions: Matrix = "hessian"
    sharp: Count | Literal["steepest"] = "steepest"

    tables: ClassVar = {
        "directions": columns(
            n=N,
            eigenvalue=EIGENVALUE,
            sigma_g=SIGMA_G,
            sigma_w=SIGMA_W,
            S_w=(float, "sum of σ_w up to n; without curvature it depends on the solver", "w"),
            correlation=(float, "c_n, the correlation of g_n and Δw_n over pairs"),
            mu_g=MU_G,
            mu_w=MU_W,
            gap=GAP,
            gap_mu=(float, "µ_g µ_w", "nat"),
        ),
        "summary": columns(
            pairs=PAIRS,
            zero_pairs=ZERO_PAIRS,
            unpartnered=(int, "test images whose label no training image has"),
            pairwise_gap=PAIRWISE_GAP,
            dual_gap=DUAL_GAP,
            mu_gap=MU_GAP,
            gap_sharp=(float, "ΔL_s, the sum of ΔL_n over n ≤ n_s", "nat"),
            gap_flat=(float, "ΔL_f, the sum of ΔL_n over n > n_s", "nat"),
            n_sharp=(int, "n_s, the number of sharp directions"),
            sum_rule_residual=(float, "|ΔL + Σ µ_g µ_w − ΔL̃|, relative to the mean |l(x′) − l(x)|"),
            S_w=(float, "S_w = Σ σ_w; without curvature it depends on the solver", "w"),
            S_w_curved=(float, "Σ σ_w over n with |H_n| above round-off: ε N max |H_n|", "w"),
            T_g=T_G,
            T_h=T_H,
            T_w=(float, "T_w = Σ σ_w²", "w²"),
            layer_norm=(float, "‖w‖ of the layer, without biases", "w"),
            weight_norm=(float, "‖w‖ of all weights and biases", "w"),
            train_loss=(float, "mean loss on all training images, mislabelled ones too", "nat"),
            test_loss=(float, "mean loss on E", "nat"),
            test_error=(float, "share of E that is misclassified"),
            train_error=(float, "share of all training images whose given label is missed"),
            eigen_residual=(float, "largest |Hv − λv|, relative to the largest |λ|"),
        ),
    }
    layer_matrices = DECOMPOSED

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The sharp directions must not be more than all; a user's own net may have any number."""
        if self.sharp == "steepest" or isinstance(run.net, Own):
            return
        weights = run.net.weights_of(self.layer, run.input_shape, run.outputs)
        if self.sharp > weights:
            has = f"'{self.layer}' has {weights:,} directions, one for each weight"
            yield (
                "sharp",
                f"is {self.sharp:,}, but {has}. Allowed: at most {weights:,}, or steepest.",
            )


class TestImages(Measurement):
    """The duality with only the first n test images, for each n in `sizes`."""

    measure: Literal["test_images"]
    layer: str
    directions: Matrix = "hessian"
    sizes: Annotated[tuple[Images, ...], Many, Distinct]

    tables: ClassVar = {
        "directions": columns(
            test_images=N_TEST,
            n=N,
            sigma_g=SIGMA_G,
            sigma_w=SIGMA_W,
            mu_g=MU_G,
            mu_w=MU_W,
            gap=GAP,
        ),
        "summary": columns(
            test_images=N_TEST,
            pairs=PAIRS,
            pairwise_gap=PAIRWISE_GAP,
            dual_gap=DUAL_GAP,
            mu_gap=MU_GAP,
            mu_w_ratio=(
                float,
                "mean |µ_w| / σ_w over the directions in which anything changes; "
                "without curvature it depends on the solver",
            ),
            mu_g_ratio=(
                float,
                "mean |µ_g| / σ_g over these directions; it depends on the solver too",
            ),
        ),
    }
    layer_matrices = DECOMPOSED

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """There must be enough test images for the largest size."""
        largest, drawn = max(self.sizes), images_to_test_on(run.samples)
        if largest > drawn:
            yield (
                "sizes",
                f"asks for {largest} test images, but a realization has {drawn:,}. Allowed: at "
                f"most {drawn:,}.",
            )


class ScaledShift(Measurement):
    """The sharpness spectrum with every dual shift Δw reduced to s_w Δw, for `scales` s_w."""

    measure: Literal["scaled_shift"]
    layer: str
    directions: Matrix = "hessian"
    scales: Annotated[tuple[UpToOne, ...], Many, Distinct]

    tables: ClassVar = {
        "directions": columns(scale=SCALE, n=N, eigenvalue=EIGENVALUE, sigma_g=SIGMA_G),
        "summary": columns(scale=SCALE, T_g=T_G, T_h=T_H),
    }
    layer_matrices = DECOMPOSED


class Flatness(Measurement):
    """F_n: how far weights can move along a direction until the loss grows by `factor`."""

    measure: Literal["flatness"]
    layer: str
    directions: Matrix = "hessian"
    factor: Annotated[float, Field(gt=1, le=LARGEST)] = 2.0

    tables: ClassVar = {
        "directions": columns(
            n=N,
            eigenvalue=EIGENVALUE,
            sigma_g=SIGMA_G,
            flatness=(float, "F_n = right − left; NaN if an end was not found", "w"),
            left=(float, "step < 0 along the direction where the loss is `factor` times L", "w"),
            right=(float, "step > 0 along the direction where it is", "w"),
            **BOTH_ENDS,
        )
    }
    layer_matrices = DECOMPOSED


class ScaleInvariance(Measurement):
    """The duality with the layer times p and the next one over p, for `factors` p."""

    measure: Literal["scale_invariance"]
    layer: str
    directions: Matrix = "hessian"
    factors: Factors

    tables: ClassVar = {
        "directions": columns(
            factor=(float, "p"),
            n=(int, "n, the rank of the direction, from 1, by descending σ_g at p = 1"),
            eigenvalue=EIGENVALUE,
            sigma_g=SIGMA_G,
            sigma_w=SIGMA_W,
            gap=GAP,
        )
    }
    layer_matrices = DECOMPOSED
    of_any_module = False

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """An α-scaling needs a next layer."""
        yield from without_next(self.layer, run)


class MinibatchNoise(Measurement):
    """The noise of learners' gradients along the Hessian's eigenvectors.

    Each learner draws `minibatches` of `batch` images.
    """

    measure: Literal["minibatch_noise"]
    layer: str
    batch: Images
    minibatches: AtLeastTwo = 100

    tables: ClassVar = {
        "directions": columns(
            n=(int, "n, the rank of the direction, from 1, by descending H_n"),
            eigenvalue=(float, "H_n, the Hessian's eigenvalue", "nat/w²"),
            noise=(float, "Δ_n, the deviation of the gradient along n over minibatches", "nat/w"),
            noise_of_mean=(float, "the same for the mean of the learners' gradients", "nat/w"),
        )
    }
    layer_matrices = DECOMPOSED
    minibatches_of = "S and attack set"


class ConvolutionDuality(Measurement):
    """The approximate duality of a convolution `layer`, by least squares over its patches."""

    measure: Literal["convolution_duality"]
    layer: str

    tables: ClassVar = {
        "pairs": columns(
            pair=(int, "number of the pair, from 1"),
            loss_gap=(float, "l(x′, w) − l(x, w)", "nat"),
            dual_loss_gap=(float, "l(x, w + Δw) − l(x, w)", "nat"),
            residual=(float, "share of the change of pre-activations that Δw cannot produce"),
        ),
        "summary": columns(
            pairs=PAIRS,
            zero_pairs=ZERO_PAIRS,
            pairwise_gap=PAIRWISE_GAP,
            dual_gap=(float, "mean of l(x, w + Δw) − l(x, w) over pairs", "nat"),
            residual_loss=(float, "mean of |l(x, w + Δw) − l(x′, w)| over pairs", "nat"),
            residual=(float, "mean residual of the pairs"),
        ),
    }
    layer_kind = "convolution"
    of_any_module = False

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """A residual connection must not skip the layer."""
        yield from skipped(self.layer, run)
