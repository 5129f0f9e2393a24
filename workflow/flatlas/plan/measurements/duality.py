"""Options of the measures of the activity-weight duality."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from flatlas.plan.data_specs import SubsetSpec, subset_of
from flatlas.plan.measurements.measurement import (
    Distinct,
    Factors,
    Many,
    Measurement,
    skipped,
    without_next,
)
from flatlas.plan.training_specs import RunSpec

Matrix = Literal["hessian", "fisher"]


class Duality(Measurement):
    """The activity-weight duality of one dense layer, along the eigenvectors of a matrix.

    `sharp` is n_s, the number of sharp directions: a number, or where sigma_g drops steepest.
    """

    measure: Literal["duality"]
    layer: str
    directions: Matrix = "hessian"
    sharp: PositiveInt | Literal["steepest"] = "steepest"


class TestImages(Measurement):
    """How the duality of a layer depends on the number of test images: the first `sizes` drawn."""

    measure: Literal["test_images"]
    layer: str
    directions: Matrix = "hessian"
    sizes: Annotated[tuple[PositiveInt, ...], Many, Distinct]

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """No more test images than are drawn."""
        yield from super().misfits(run)
        subset, asked = subset_of(run.samples), max(self.sizes)
        if isinstance(subset, SubsetSpec) and asked > subset.test_size:
            yield (
                "sizes",
                f"asks for {asked} test images, but data.test_size is {subset.test_size}.",
            )


class ScaledShift(Measurement):
    """The sharpness spectrum with every dual shift Δw made smaller, s_w Δw, for some `scales`."""

    measure: Literal["scaled_shift"]
    layer: str
    directions: Matrix = "hessian"
    scales: Annotated[tuple[Annotated[float, Field(gt=0, le=1)], ...], Many, Distinct]


class Flatness(Measurement):
    """F_n: how far one can go along a direction before the training loss grows by a `factor`."""

    measure: Literal["flatness"]
    layer: str
    directions: Matrix = "hessian"
    factor: Annotated[float, Field(gt=1)] = 2.0


class ScaleInvariance(Measurement):
    """The duality with a layer's weights times p and the next one's over p, for some `factors`."""

    measure: Literal["scale_invariance"]
    layer: str
    directions: Matrix = "hessian"
    factors: Factors

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """There has to be a next layer."""
        yield from super().misfits(run)
        yield from without_next(self.layer, run)


class MinibatchNoise(Measurement):
    """The noise of the learners' gradients along the Hessian's eigenvectors.

    `minibatches` random ones of `batch` images are drawn for each learner.
    """

    measure: Literal["minibatch_noise"]
    layer: str
    batch: PositiveInt
    minibatches: Annotated[int, Field(ge=2)] = 100


class ConvolutionDuality(Measurement):
    """The approximate duality of a convolution layer: least-squares dual weights of its patches."""

    measure: Literal["convolution_duality"]
    layer: str

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """What skips the layer does not depend on its weights."""
        yield from super().misfits(run)
        yield from skipped(self.layer, run)
