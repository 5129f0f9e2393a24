"""Specs of the measures, and what each needs of a machine. One more measure: one more entry."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, field_validator

from flatlas.plan.data_specs import subset_of
from flatlas.plan.net_specs import LayerKind, layer_names
from flatlas.plan.spec import Spec
from flatlas.plan.training_specs import RunSpec

Matrix = Literal["hessian", "fisher"]
Many = Field(min_length=1)


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) < len(values):
        raise ValueError(f"say each only once, not {', '.join(map(str, values))}")
    return values


Distinct = AfterValidator(_distinct)


class Measurement(Spec):
    """What all measures share: the moments of a training `at` which they are taken.

    A moment is an epoch among the run's `checkpoints`, or `final`: the solution.
    """

    at: Annotated[tuple[NonNegativeInt | Literal["final"], ...], Many, Distinct] = ("final",)

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """Each option that can't be met by a run: its key, and why. Told before anything runs."""
        kept = (*run.checkpoints, "final")
        for moment in self.at:
            if moment not in kept:
                allowed = ", ".join(map(str, kept))
                yield "at", f"names '{moment}'. Allowed: {allowed}."


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
        drawn = subset_of(run.samples).test_size
        if max(self.sizes) > drawn:
            yield "sizes", f"asks for {max(self.sizes)} test images, but data.test_size is {drawn}."


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
    factors: Annotated[tuple[Annotated[float, Field(gt=0)], ...], Many, Distinct]

    @field_validator("factors")
    @classmethod
    def _with_one(cls, factors: tuple[float, ...]) -> tuple[float, ...]:
        if 1.0 not in factors:
            raise ValueError(
                "the factor 1, against which the others are held, has to be among them"
            )
        return factors

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """There has to be a next layer."""
        yield from super().misfits(run)
        *others, last = layer_names(run.net)["dense"]
        if self.layer == last:
            yield "layer", f"is '{last}', which has no next layer. Allowed: {', '.join(others)}."


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


MeasureOptions = Annotated[
    Duality
    | TestImages
    | ScaledShift
    | Flatness
    | ScaleInvariance
    | MinibatchNoise
    | ConvolutionDuality,
    Field(discriminator="measure"),
]


class MeasureSpec(Spec):
    """One measure, with its options, on every realization of one run."""

    options: MeasureOptions
    run: RunSpec


@dataclass(frozen=True)
class Measure:
    """An entry: the options a study may set, the tables written, the resources asked for.

    `layers` is the kind of layer that its option `layer` has to name.
    """

    options: type[Measurement]
    tables: tuple[str, ...]
    layers: LayerKind = "dense"
    threads: int = 1
    mem_mb: int = 2000
    gpu: int = 0
    runtime: int = 60


MEASURES: dict[str, Measure] = {
    "duality": Measure(Duality, ("directions", "summary"), mem_mb=4000),
    "test_images": Measure(TestImages, ("directions", "summary"), mem_mb=4000),
    "scaled_shift": Measure(ScaledShift, ("directions", "summary"), mem_mb=4000),
    "flatness": Measure(Flatness, ("directions",), mem_mb=4000),
    "scale_invariance": Measure(ScaleInvariance, ("directions",), mem_mb=4000),
    "minibatch_noise": Measure(MinibatchNoise, ("directions",), mem_mb=4000),
    "convolution_duality": Measure(
        ConvolutionDuality, ("pairs", "summary"), layers="convolution", mem_mb=4000
    ),
}
