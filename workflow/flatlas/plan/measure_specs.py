"""Specs of the measures, and what each needs of a machine. One more measure: one more entry."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import e
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveInt,
    model_validator,
)

from flatlas.plan.data_specs import FunctionsSpec, NoiseSpec, SubsetSpec, subset_of
from flatlas.plan.moments import Moment, moments
from flatlas.plan.net_specs import ConvolutionalNet, DenseNet, LayerKind, layer_names
from flatlas.plan.spec import Spec
from flatlas.plan.training_specs import Rate, RunSpec

Matrix = Literal["hessian", "fisher"]
Many = Field(min_length=1)


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) < len(values):
        raise ValueError(f"say each only once, not {', '.join(map(str, values))}")
    return values


Distinct = AfterValidator(_distinct)


def _with_one(factors: tuple[float, ...]) -> tuple[float, ...]:
    if 1.0 not in factors:
        raise ValueError("the factor 1, against which the others are held, has to be among them")
    return factors


Factors = Annotated[
    tuple[Annotated[float, Field(gt=0)], ...], Many, Distinct, AfterValidator(_with_one)
]


class Measurement(Spec):
    """What all measures share: the moments of a training `at` which they are taken.

    A moment is an epoch among the run's `checkpoints`; `met+10`, where 10 is among its
    `overtraining`; or `final`: the solution. `all` is spelled out by the plan.
    """

    at: Annotated[tuple[Literal["all"] | Moment, ...], Many, Distinct] = ("final",)

    def spelled_out(self, run: RunSpec) -> Self:
        """The same with each moment of the run in place of `all`."""
        if "all" not in self.at:
            return self
        return self.model_copy(update={"at": moments(run.checkpoints, run.overtraining)})

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """Each option that can't be met by a run: its key, and why. Told before anything runs."""
        kept = moments(run.checkpoints, run.overtraining)
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


def _without_next(layer: str, run: RunSpec) -> Iterator[tuple[str, str]]:
    """An α-scaling is taken back by the next layer."""
    *others, last = layer_names(run.net)["dense"]
    if layer == last:
        yield "layer", f"is '{last}', which has no next layer. Allowed: {', '.join(others)}."


class ScaleInvariance(Measurement):
    """The duality with a layer's weights times p and the next one's over p, for some `factors`."""

    measure: Literal["scale_invariance"]
    layer: str
    directions: Matrix = "hessian"
    factors: Factors

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """There has to be a next layer."""
        yield from super().misfits(run)
        yield from _without_next(self.layer, run)


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
        assert isinstance(run.net, ConvolutionalNet)
        stages = dict(zip(layer_names(run.net)["convolution"], run.net.stages, strict=True))
        if stages[self.layer].skip:
            allowed = [name for name, stage in stages.items() if not stage.skip]
            yield (
                "layer",
                f"is '{self.layer}', past which the images skip. Allowed: {', '.join(allowed)}.",
            )


Link = Literal["heaviside", "probit"]
ARC_COSINE = "dense nets with init he_normal or scaled_normal"


class OfFunction(Measurement):
    """What measures of P(f) share: a net that says yes or no, and the `link` of its GP prior."""

    link: Link = "probit"

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """A function has two values."""
        yield from super().misfits(run)
        if run.outputs != 1:
            yield "measure", "is of binary nets: say which classes are data.positive."


def _has_arc_cosine_kernel(run: RunSpec) -> bool:
    schemes = ("he_normal", "scaled_normal")
    return isinstance(run.net, DenseNet) and run.net.init.scheme in schemes


class GpPrior(OfFunction):
    """log P(f) of the function f that a binary net expresses on S and E, by EP under a GP prior.

    The `monte_carlo` kernel is that of any net with a last dense layer, estimated with random ones.
    """

    measure: Literal["gp_prior"]
    kernel: Literal["arc_cosine", "monte_carlo"] = "arc_cosine"

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """A kernel that the net has."""
        yield from super().misfits(run)
        if self.kernel == "arc_cosine" and not _has_arc_cosine_kernel(run):
            yield "kernel", f"is 'arc_cosine', that of {ARC_COSINE}. Allowed: monte_carlo."
        if self.kernel == "monte_carlo" and isinstance(run.samples, NoiseSpec | FunctionsSpec):
            yield "kernel", "is 'monte_carlo', which is sampled on a subset, all with true labels."


class Orthant(OfFunction):
    """The exact prior of f on `sizes` of its images, beside EP and the variational bound."""

    measure: Literal["orthant"]
    sizes: Annotated[tuple[PositiveInt, ...], Many, Distinct]

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """It is of the arc-cosine kernel."""
        yield from super().misfits(run)
        if not _has_arc_cosine_kernel(run):
            yield "measure", f"has only the arc-cosine kernel, that of {ARC_COSINE}."


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


class BooleanPrior(Measurement):
    """P(f): how often random nets express the function f that the net expresses."""

    measure: Literal["boolean_prior"]

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The functions of random nets have to be counted."""
        yield from super().misfits(run)
        if not isinstance(run.samples, FunctionsSpec):
            yield "measure", "is of the functions that random nets express: say data.functions."


class AlongRecording(Measurement):
    """What measures along the principal directions p_i share: the `layer` that a run has recorded.

    A p_i is known by its rank i, from 1 on, by descending variance.
    """

    layer: str

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """There has to be a recording, and of this layer."""
        yield from super().misfits(run)
        if run.snapshots is None:
            yield "layer", "needs a recording: say which layer are the run's snapshots."
        elif self.layer != run.snapshots:
            yield "layer", f"is '{self.layer}', but the snapshots are of '{run.snapshots}'."


class TrajectoryPca(AlongRecording):
    """The principal components of a recorded trajectory; θ_i is kept of the ranks in `components`.

    `epochs` is how long the recording is: the plan says it.
    """

    measure: Literal["trajectory_pca"]
    components: Annotated[tuple[PositiveInt, ...], Distinct] = ()
    epochs: PositiveInt | None = None

    def spelled_out(self, run: RunSpec) -> Self:
        """With the length of the run's recording."""
        epochs = self.epochs or run.stop.extra_epochs
        return super().spelled_out(run).model_copy(update={"epochs": epochs})

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """Long enough for a velocity, the displacement in an epoch, to have a past."""
        yield from super().misfits(run)
        if self.epochs != run.stop.extra_epochs:
            yield "epochs", f"is {self.epochs}, but the run records {run.stop.extra_epochs}."
        elif run.snapshots and run.stop.extra_epochs < 2:
            yield "measure", "needs a recording of two epochs: say stop.extra_epochs."


class AlongDirections(AlongRecording):
    """What measures of the first `directions` p_i share: `profiles` are the ranks drawn in full."""

    directions: PositiveInt = 200
    profiles: Annotated[tuple[PositiveInt, ...], Distinct] = ()

    @model_validator(mode="after")
    def _profiles_are_of_these_directions(self) -> "AlongDirections":
        if self.profiles and max(self.profiles) > self.directions:
            raise ValueError(
                f"profiles names rank {max(self.profiles)}, but directions is {self.directions}"
            )
        return self


class Valley(AlongDirections):
    """F_i: how wide along p_i the valley is in which the training loss grows by up to `factor`."""

    measure: Literal["valley"]
    factor: Annotated[float, Field(gt=1)] = e


class OfMinibatches(AlongDirections):
    """What measures of the mini loss functions L^µ share: how many images µ has.

    Unsaid, `batch` is the run's own.
    """

    batch: PositiveInt | None = None

    def spelled_out(self, run: RunSpec) -> Self:
        """With the run's own minibatches, unless it has others."""
        own = None if run.batch == "full" else run.batch
        return super().spelled_out(run).model_copy(update={"batch": self.batch or own})

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """Gradient descent has no minibatches of its own."""
        yield from super().misfits(run)
        if self.batch is None:
            yield "batch", "is missing, and the run itself takes all images at once."


class MinibatchLosses(OfMinibatches):
    """Where along p_i the losses of random `minibatches` have their minimum, and how curved."""

    measure: Literal["minibatch_losses"]
    minibatches: Annotated[int, Field(ge=2)] = 100


class ActiveTemperature(OfMinibatches):
    """T_i: the strength along p_i of the noise that SGD has from its minibatches.

    `lr` is α; unsaid, the run's own.
    """

    measure: Literal["active_temperature"]
    lr: Rate | None = None

    def spelled_out(self, run: RunSpec) -> Self:
        """With the run's own learning rate, unless it has another."""
        return super().spelled_out(run).model_copy(update={"lr": self.lr or run.optimizer.lr})


class Forgetting(AlongRecording):
    """What becomes of a recorded task-1 while the layer learns a second `task`, held back or not.

    The second task is that of the images of other classes. The loss has one more term, λ times a
    sum over N_c directions, for each λ of `strengths` and each N_c of `directions`: by `ldc` the
    first p_i, each with the `flatness` F_i that is `measured` or follows from its `variance`; by
    `ewc` the weights with the largest Fisher information. λ = 0, of neither, comes first. Unsaid,
    `batch` and `lr` are the run's own.
    """

    measure: Literal["forgetting"]
    method: Literal["ldc", "ewc"] = "ldc"
    flatness: Literal["measured", "variance"] = "measured"
    task: Annotated[tuple[NonNegativeInt, ...], Many, Distinct]
    strengths: Annotated[tuple[Rate, ...], Many, Distinct]
    directions: Annotated[tuple[PositiveInt, ...], Many, Distinct]
    epochs: PositiveInt = 20
    batch: PositiveInt | None = None
    lr: Rate | None = None

    def spelled_out(self, run: RunSpec) -> Self:
        """With the run's own minibatches and learning rate, unless it has others."""
        own = None if run.batch == "full" else run.batch
        update = {"batch": self.batch or own, "lr": self.lr or run.optimizer.lr}
        return super().spelled_out(run).model_copy(update=update)

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """Two tasks of one net, and minibatches of the second."""
        yield from super().misfits(run)
        samples = run.samples
        if not isinstance(samples, SubsetSpec) or samples.only is None or run.outputs == 1:
            yield "measure", "is of a net that knows more classes than its run: say data.only."
        else:
            others = [n for n in samples.classes or range(run.outputs) if n not in samples.only]
            if not set(self.task) <= set(others):
                allowed = ", ".join(map(str, others))
                yield "task", f"is {list(self.task)}. Allowed, beside data.only: {allowed}."
        if self.batch is None:
            yield "batch", "is missing, and the run itself takes all images at once."


class FirstMode(AlongRecording):
    """By how much the right output exceeds the wrong ones along p_1, for `images` of each class."""

    measure: Literal["first_mode"]
    images: PositiveInt = 5

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """An output alone exceeds no other."""
        yield from super().misfits(run)
        if run.outputs == 1:
            yield "measure", "is of nets with an output a class: leave out data.positive."


class UnderScaling(Measurement):
    """What measures share that are also taken after an α-scaling of a `layer`: its `factors` α."""

    layer: str = "fc1"
    factors: Factors = (1.0,)

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """There has to be a next layer, if anything is scaled."""
        yield from super().misfits(run)
        if self.factors != (1.0,):
            yield from _without_next(self.layer, run)


class Regret(UnderScaling):
    """The local regret ‖g₂‖ (1 − cos(g₁, g₂)) of `pairs` of minibatches of `batch` images from S.

    In a KL-ball too, for each λ among the `dampings` of the Fisher matrix, F + λ diag F.
    """

    measure: Literal["regret"]
    batch: PositiveInt = 32
    pairs: Annotated[int, Field(ge=2)] = 100
    dampings: Annotated[tuple[NonNegativeFloat, ...], Many, Distinct] = (0.0, 0.1)


class TrueRegret(Measurement):
    """f₂(argmin f₁) − min f₂ in balls of some `radii` ε about θ, for `pairs` of minibatches."""

    measure: Literal["true_regret"]
    batch: PositiveInt = 32
    pairs: PositiveInt = 20
    radii: Annotated[tuple[Annotated[float, Field(gt=0)], ...], Many, Distinct]


class RegretSlice(Measurement):
    """The losses of two minibatches about θ, on the plane of their gradients; ε is the `radius`."""

    measure: Literal["regret_slice"]
    batch: PositiveInt = 32
    radius: Annotated[float, Field(gt=0)]


class ContrastiveFlatness(UnderScaling):
    """The mean flatness of the losses of `minibatches` over the flatness of their mean, that on S.

    Flatness is the trace and the norm of the Hessian, and the sharpness in a `box`.
    """

    measure: Literal["contrastive_flatness"]
    batch: PositiveInt = 32
    minibatches: Annotated[int, Field(ge=2)] = 20
    box: Annotated[float, Field(gt=0)]


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
    | ContrastiveFlatness,
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

    `layers` is the kind of layer that its option `layer` has to name. `matrices` is how many
    square matrices in float64, over the images of S and E, are held beside the `mem_mb`.
    """

    options: type[Measurement]
    tables: tuple[str, ...]
    layers: LayerKind = "dense"
    threads: int = 1
    mem_mb: int = 4000
    matrices: int = 0
    gpu: int = 0
    runtime: int = 60


MEASURES: dict[str, Measure] = {
    "duality": Measure(Duality, ("directions", "summary")),
    "test_images": Measure(TestImages, ("directions", "summary")),
    "scaled_shift": Measure(ScaledShift, ("directions", "summary")),
    "flatness": Measure(Flatness, ("directions",)),
    "scale_invariance": Measure(ScaleInvariance, ("directions",)),
    "minibatch_noise": Measure(MinibatchNoise, ("directions",)),
    "convolution_duality": Measure(ConvolutionDuality, ("pairs", "summary"), layers="convolution"),
    # Seven were measured, on 3,000 images and on 11,000.
    "gp_prior": Measure(GpPrior, ("summary",), matrices=8, runtime=240),
    "orthant": Measure(Orthant, ("summary",), runtime=240),
    "sharpness": Measure(Sharpness, ("summary", "ascent")),
    "hessian": Measure(Hessian, ("summary", "eigenvalues")),
    "boolean_prior": Measure(BooleanPrior, ("summary",)),
    "trajectory_pca": Measure(TrajectoryPca, ("directions", "projections")),
    "valley": Measure(Valley, ("directions", "profiles")),
    "minibatch_losses": Measure(MinibatchLosses, ("directions", "profiles")),
    "active_temperature": Measure(ActiveTemperature, ("directions", "profiles")),
    "first_mode": Measure(FirstMode, ("margins",)),
    "forgetting": Measure(Forgetting, ("errors", "displacements", "points"), runtime=240),
    "regret": Measure(Regret, ("summary", "kl_ball")),
    "true_regret": Measure(TrueRegret, ("summary", "pairs")),
    "regret_slice": Measure(RegretSlice, ("surface", "stars")),
    "contrastive_flatness": Measure(ContrastiveFlatness, ("summary",)),
}
