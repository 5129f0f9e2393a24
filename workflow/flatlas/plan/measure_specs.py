"""The measures, and what each needs of a machine. One more measure: one more entry.

Its options stand in `measurements/`.
"""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from flatlas.plan.data_specs import SubsetSpec
from flatlas.plan.measurements.atlas import Norms, Survival
from flatlas.plan.measurements.curvature import Hessian, NormScaling, Sharpness, SpectralDensity
from flatlas.plan.measurements.duality import (
    ConvolutionDuality,
    Duality,
    Flatness,
    MinibatchNoise,
    ScaledShift,
    ScaleInvariance,
    TestImages,
)
from flatlas.plan.measurements.functions import BooleanPrior, GpPrior, Orthant
from flatlas.plan.measurements.measurement import Measurement
from flatlas.plan.measurements.recordings import (
    ActiveTemperature,
    FirstMode,
    Forgetting,
    MinibatchLosses,
    TrajectoryPca,
    Valley,
)
from flatlas.plan.measurements.regrets import ContrastiveFlatness, Regret, RegretSlice, TrueRegret
from flatlas.plan.net_specs import LayerKind
from flatlas.plan.spec import Spec
from flatlas.plan.training_specs import RunSpec

MeasureOptions = Annotated[
    Duality
    | TestImages
    | ScaledShift
    | Flatness
    | ScaleInvariance
    | MinibatchNoise
    | ConvolutionDuality
    | GpPrior
    | Orthant
    | Sharpness
    | Hessian
    | SpectralDensity
    | NormScaling
    | BooleanPrior
    | TrajectoryPca
    | Valley
    | MinibatchLosses
    | ActiveTemperature
    | FirstMode
    | Forgetting
    | Regret
    | TrueRegret
    | RegretSlice
    | ContrastiveFlatness
    | Norms
    | Survival,
    Field(discriminator="measure"),
]


class MeasureSpec(Spec):
    """One measure, with its options, on every realization of one run."""

    options: MeasureOptions
    run: RunSpec


def second_task(measured: MeasureSpec) -> SubsetSpec | None:
    """The images of a measure's second task: as many of other classes, drawn by the same seeds."""
    options, samples = measured.options, measured.run.samples
    if not (isinstance(options, Forgetting) and isinstance(samples, SubsetSpec)):
        return None
    return samples.model_copy(update={"only": options.task})


@dataclass(frozen=True)
class Measure:
    """An entry: the options a study may set, the tables written, the resources asked for.

    `layers` is the kind of layer that its option `layer` has to name; None takes both. Beside the
    `mem_mb` it holds so many `matrices`: square, in float64, over the images of S and E. It is
    `of_modules` if it asks for no more than a torch module and images: no recording, no sampled
    kernel or functions, no layers but the last.
    """

    options: type[Measurement]
    tables: tuple[str, ...]
    layers: LayerKind | None = "dense"
    mem_mb: int = 4000
    matrices: int = 0
    runtime: int = 60
    of_modules: bool = True


MEASURES: dict[str, Measure] = {
    "duality": Measure(Duality, ("directions", "summary")),
    "test_images": Measure(TestImages, ("directions", "summary")),
    "scaled_shift": Measure(ScaledShift, ("directions", "summary")),
    "flatness": Measure(Flatness, ("directions",)),
    "scale_invariance": Measure(ScaleInvariance, ("directions",), of_modules=False),
    "minibatch_noise": Measure(MinibatchNoise, ("directions",)),
    "convolution_duality": Measure(
        ConvolutionDuality, ("pairs", "summary"), layers="convolution", of_modules=False
    ),
    # Seven were measured, on 3,000 images and on 11,000.
    "gp_prior": Measure(GpPrior, ("summary",), matrices=8, runtime=240, of_modules=False),
    "orthant": Measure(Orthant, ("summary",), runtime=240, of_modules=False),
    "sharpness": Measure(Sharpness, ("summary", "ascent")),
    "hessian": Measure(Hessian, ("summary", "eigenvalues")),
    "spectral_density": Measure(SpectralDensity, ("density", "summary")),
    "norm_scaling": Measure(NormScaling, ("summary",), of_modules=False),
    "boolean_prior": Measure(BooleanPrior, ("summary",), of_modules=False),
    "trajectory_pca": Measure(TrajectoryPca, ("directions", "projections"), of_modules=False),
    "valley": Measure(Valley, ("directions", "profiles"), layers=None, of_modules=False),
    "minibatch_losses": Measure(MinibatchLosses, ("directions", "profiles"), of_modules=False),
    "active_temperature": Measure(ActiveTemperature, ("directions", "profiles"), of_modules=False),
    "first_mode": Measure(FirstMode, ("margins",), of_modules=False),
    "forgetting": Measure(
        Forgetting, ("errors", "displacements", "points"), runtime=240, of_modules=False
    ),
    "regret": Measure(Regret, ("summary", "kl_ball")),
    "true_regret": Measure(TrueRegret, ("summary", "pairs")),
    "regret_slice": Measure(RegretSlice, ("surface", "stars")),
    "contrastive_flatness": Measure(ContrastiveFlatness, ("summary",)),
    "norms": Measure(Norms, ("summary",)),
    "survival": Measure(
        Survival,
        (
            *("norms", "sharpness", "hessian", "duality"),
            *("prior", "regret", "kl_ball", "contrast"),
        ),
        matrices=8,
        runtime=240,
        of_modules=False,
    ),
}
