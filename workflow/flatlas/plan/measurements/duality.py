"""The measures of the activity-weight duality."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from flatlas.plan.bounds import LARGEST, AtLeastTwo, Count, Images
from flatlas.plan.data_specs import SubsetSpec, subset_of
from flatlas.plan.measurements.measurement import (
    Distinct,
    Factors,
    Many,
    Measurement,
    columns,
    skipped,
    without_next,
)
from flatlas.plan.training_specs import RunSpec

Matrix = Literal["hessian", "fisher"]
# The matrix, its eigenvectors and the workspace to find them: 4.2 were measured.
DECOMPOSED = 5


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
            n=int,
            eigenvalue=float,
            sigma_g=float,
            sigma_w=float,
            S_w=float,
            correlation=float,
            mu_g=float,
            mu_w=float,
            gap=float,
            gap_mu=float,
        ),
        "summary": columns(
            pairs=int,
            zero_pairs=int,
            unpartnered=int,
            pairwise_gap=float,
            dual_gap=float,
            mu_gap=float,
            gap_sharp=float,
            gap_flat=float,
            n_sharp=int,
            sum_rule_residual=float,
            S_w=float,
            T_g=float,
            T_h=float,
            T_w=float,
            layer_norm=float,
            weight_norm=float,
            train_loss=float,
            test_loss=float,
            test_error=float,
            train_error=float,
            eigen_residual=float,
        ),
    }
    layer_matrices = DECOMPOSED


class TestImages(Measurement):
    """The duality with the first `sizes` of the test images only."""

    measure: Literal["test_images"]
    layer: str
    directions: Matrix = "hessian"
    sizes: Annotated[tuple[Images, ...], Many, Distinct]

    tables: ClassVar = {
        "directions": columns(
            test_images=int,
            n=int,
            sigma_g=float,
            sigma_w=float,
            mu_g=float,
            mu_w=float,
            gap=float,
        ),
        "summary": columns(
            test_images=int,
            pairs=int,
            pairwise_gap=float,
            dual_gap=float,
            mu_gap=float,
            mu_w_ratio=float,
            mu_g_ratio=float,
        ),
    }
    layer_matrices = DECOMPOSED

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """There must be as many test images."""
        yield from super().misfits(run)
        subset, asked = subset_of(run.samples), max(self.sizes)
        if isinstance(subset, SubsetSpec) and asked > subset.test_size:
            yield (
                "sizes",
                f"asks for {asked} test images, but data.test_size is {subset.test_size}.",
            )


class ScaledShift(Measurement):
    """The sharpness spectrum with every dual shift Δw reduced to s_w Δw, for `scales` s_w."""

    measure: Literal["scaled_shift"]
    layer: str
    directions: Matrix = "hessian"
    scales: Annotated[tuple[Annotated[float, Field(gt=0, le=1)], ...], Many, Distinct]

    tables: ClassVar = {
        "directions": columns(scale=float, n=int, eigenvalue=float, sigma_g=float),
        "summary": columns(scale=float, T_g=float, T_h=float),
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
            n=int,
            eigenvalue=float,
            sigma_g=float,
            flatness=float,
            left=float,
            right=float,
            converged=bool,
            iterations=int,
            residual=float,
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
            factor=float, n=int, eigenvalue=float, sigma_g=float, sigma_w=float, gap=float
        )
    }
    layer_matrices = DECOMPOSED
    of_any_module = False

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """An α-scaling needs a next layer."""
        yield from super().misfits(run)
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
        "directions": columns(n=int, eigenvalue=float, noise=float, noise_of_mean=float)
    }
    layer_matrices = DECOMPOSED


class ConvolutionDuality(Measurement):
    """The approximate duality of a convolution `layer`, by least squares over its patches."""

    measure: Literal["convolution_duality"]
    layer: str

    tables: ClassVar = {
        "pairs": columns(pair=int, loss_gap=float, dual_loss_gap=float, residual=float),
        "summary": columns(
            pairs=int,
            zero_pairs=int,
            pairwise_gap=float,
            dual_gap=float,
            residual_loss=float,
            residual=float,
        ),
    }
    layer_kind = "convolution"
    of_any_module = False

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """A residual connection must not skip the layer."""
        yield from super().misfits(run)
        yield from skipped(self.layer, run)
