"""Options of the measures of a recorded trajectory, along its principal directions."""

from collections.abc import Iterator
from math import e
from typing import Annotated, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from flatlas.plan.data_specs import SubsetSpec
from flatlas.plan.measurements.measurement import Many, Measurement, skipped
from flatlas.plan.spec import Distinct
from flatlas.plan.training_specs import Rate, RunSpec


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

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """What skips the layer does not depend on its weights."""
        yield from super().misfits(run)
        yield from skipped(self.layer, run)


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
