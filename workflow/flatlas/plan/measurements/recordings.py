"""The measures of a recorded trajectory, along its principal directions."""

from collections.abc import Iterator
from math import e
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from flatlas.plan.bounds import (
    LARGEST,
    AtLeastTwo,
    Class,
    Count,
    Images,
    LaterEpoch,
)
from flatlas.plan.data_specs import SubsetSpec
from flatlas.plan.measurements.measurement import Few, Many, Measurement, columns, skipped
from flatlas.plan.mistakes import listed, shown
from flatlas.plan.spec import Distinct
from flatlas.plan.training_specs import Rate, RunSpec


class AlongRecording(Measurement):
    """What measures along the principal directions p_i share: the `layer` that a run has recorded.

    The rank i counts from 1, by descending variance.
    """

    layer: str

    of_any_module = False

    def spelled_out(self, run: RunSpec) -> Self:
        """A copy with what the run itself says of the batch, lr and epochs that are not given."""
        own = {
            "batch": None if run.batch == "full" else run.batch,
            "lr": run.optimizer.lr,
            "epochs": run.stop.extra_epochs,
        }
        lacking = {name: value for name, value in own.items() if getattr(self, name, 0) is None}
        return super().spelled_out(run).model_copy(update=lacking)

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The run must record this layer; one by gradient descent has no batch size of its own."""
        yield from super().misfits(run)
        if run.snapshots is None:
            yield "layer", "needs a recording: say which layer are the run's snapshots."
        elif self.layer != run.snapshots:
            yield "layer", f"is '{self.layer}', but the snapshots are of '{run.snapshots}'."
        if getattr(self, "batch", 0) is None:
            yield "batch", "is missing, and the run itself takes all images at once."


class TrajectoryPca(AlongRecording):
    """The principal components p_i of a recorded trajectory.

    θ_i is kept for the ranks in `components`. The plan fills in `epochs`.
    """

    measure: Literal["trajectory_pca"]
    components: Annotated[tuple[Count, ...], Few, Distinct] = ()
    epochs: LaterEpoch | None = None

    tables: ClassVar = {
        "directions": columns(
            rank=int,
            variance=float,
            share=float,
            cumulative=float,
            velocity_time=float,
            residual=float,
        ),
        "projections": columns(rank=int, step=int, time=float, theta=float),
    }

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """A correlation of velocities, displacements in an epoch, takes two epochs."""
        yield from super().misfits(run)
        if self.epochs != run.stop.extra_epochs:
            yield "epochs", f"is {self.epochs}, but the run records {run.stop.extra_epochs}."
        elif run.snapshots and run.stop.extra_epochs < 2:
            yield "measure", "needs a recording of two epochs: say stop.extra_epochs."


class AlongDirections(AlongRecording):
    """What measures of the first `directions` p_i share: `profiles` lists ranks to draw in full."""

    directions: Count = 200
    profiles: Annotated[tuple[Count, ...], Few, Distinct] = ()

    @model_validator(mode="after")
    def _profiles_are_of_these_directions(self) -> "AlongDirections":
        if self.profiles and max(self.profiles) > self.directions:
            raise ValueError(
                f"profiles names rank {max(self.profiles)}, but directions is {self.directions}"
            )
        return self


class Valley(AlongDirections):
    """F_i: the width along p_i in which the training loss grows by up to `factor`."""

    measure: Literal["valley"]
    factor: Annotated[float, Field(gt=1, le=LARGEST)] = e

    tables: ClassVar = {
        "directions": columns(
            rank=int,
            variance=float,
            flatness=float,
            left=float,
            right=float,
            slope=float,
            curvature=float,
            converged=bool,
            iterations=int,
            residual=float,
        ),
        "profiles": columns(rank=int, delta=float, loss=float, quadratic=float),
    }
    layer_kind = None

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """A residual connection must not skip the layer."""
        yield from super().misfits(run)
        yield from skipped(self.layer, run)


class OfMinibatches(AlongDirections):
    """What measures of the mini loss functions L^µ share: the number of images in µ.

    `batch` is the run's own by default.
    """

    batch: Images | None = None


class MinibatchLosses(OfMinibatches):
    """The minima along p_i, and curvatures, of the losses of random `minibatches`."""

    measure: Literal["minibatch_losses"]
    minibatches: AtLeastTwo = 100

    tables: ClassVar = {
        "directions": columns(
            rank=int,
            variance=float,
            minimum=float,
            minimum_variance=float,
            curvature=float,
            product=float,
            found=float,
        ),
        "profiles": columns(rank=int, minibatch=int, delta=float, loss=float),
    }


class ActiveTemperature(OfMinibatches):
    """T_i: the strength of SGD's minibatch noise along p_i."""

    measure: Literal["active_temperature"]
    lr: Rate | None = None

    tables: ClassVar = {
        "directions": columns(rank=int, variance=float, temperature=float, loss=float),
        "profiles": columns(rank=int, delta=float, temperature=float, loss=float),
    }


class Forgetting(AlongRecording):
    """How much of the recorded task a layer forgets while it learns other classes, the `task`.

    A penalty holds the weights back: λ (`strengths`; 0 comes first) times a sum over N_c
    `directions`. `ldc`: the first p_i with their `flatness` F_i, `measured` or from the `variance`.
    `ewc`: the weights with the largest Fisher information.
    """

    measure: Literal["forgetting"]
    method: Literal["ldc", "ewc"] = "ldc"
    flatness: Literal["measured", "variance"] = "measured"
    task: Annotated[tuple[Class, ...], Many, Distinct]
    strengths: Annotated[tuple[Rate, ...], Many, Distinct]
    directions: Annotated[tuple[Count, ...], Many, Distinct]
    epochs: Count = 20
    batch: Images | None = None
    lr: Rate | None = None

    tables: ClassVar = {
        "errors": columns(
            time=float,
            strength=float,
            directions=int,
            epsilon_1=float,
            epsilon_2=float,
            loss_2=float,
            method=str,
        ),
        "displacements": columns(
            strength=float,
            directions=int,
            q=float,
            rank=int,
            flatness=float,
            converged=bool,
            method=str,
        ),
        "points": columns(
            strength=float,
            directions=int,
            epsilon_1=float,
            epsilon_2=float,
            loss_2=float,
            residual=float,
            converged=bool,
            iterations=int,
            method=str,
        ),
    }
    runtime = 240

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The run must leave out the classes of the second task."""
        yield from super().misfits(run)
        samples = run.samples
        if not isinstance(samples, SubsetSpec) or samples.only is None or run.outputs == 1:
            yield "measure", "is of a net that knows more classes than its run: say data.only."
        else:
            others = [n for n in samples.classes or range(run.outputs) if n not in samples.only]
            if not set(self.task) <= set(others):
                allowed = listed([*map(str, others)])
                yield "task", f"is {shown(list(self.task))}. Allowed, beside data.only: {allowed}."


class FirstMode(AlongRecording):
    """By how much the right output exceeds the others along p_1, for `images` of each class."""

    measure: Literal["first_mode"]
    images: Images = 5

    tables: ClassVar = {"margins": columns(label=int, theta=float, margin=float)}

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """A single output has no others to exceed."""
        yield from super().misfits(run)
        if run.outputs == 1:
            yield "measure", "is of nets with an output a class: leave out data.positive."
