"""The measures of a recorded trajectory, along its principal directions."""

from collections.abc import Iterator
from math import e, inf
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from flatlas.plan.bounds import LARGEST, AtLeastTwo, Class, Count, Images, LaterEpoch
from flatlas.plan.columns import Column, columns
from flatlas.plan.data_specs import SubsetSpec, named
from flatlas.plan.families.own import Own
from flatlas.plan.measurements.measurement import (
    BOTH_ENDS,
    Few,
    Many,
    Measurement,
    skipped,
)
from flatlas.plan.mistakes import listed, shown
from flatlas.plan.spec import Distinct, InOrder
from flatlas.plan.training_specs import Rate, RunSpec

# Columns of several tables.
RANK = Column(int, "i, the rank of p_i, from 1, by descending variance")
VARIANCE = Column(float, "σ_i², the variance of the weights along p_i", "w²")
DELTA = Column(float, "δθ, the step along p_i from the solution", "w")
LOSS_THERE = Column(float, "L_i(δθ), the mean training loss there", "nat")
STRENGTH = Column(float, "λ", "nat")
HELD = Column(int, "N_c, the number of directions that the penalty holds")
METHOD = Column(str, "`ldc` or `ewc`")
EPSILON_1 = Column(float, "ε1, the share of the recorded task's test images misclassified")
EPSILON_2 = Column(float, "ε2, the share of the second task's test images misclassified")
LOSS_2 = Column(float, "mean loss on the second task's test images", "nat")


class AlongRecording(Measurement):
    """The base of measures along the principal directions p_i of a run's recorded `layer`.

    The rank i counts from 1, by descending variance.
    """

    layer: str

    of_any_module = False

    def spelled_out(self, run: RunSpec) -> Self:
        """A copy with the run's own batch, lr and epochs where the options leave them out."""
        own = {
            "batch": None if run.batch == "full" or run.learners else run.batch,
            # Measures that take an lr are about plain SGD, whatever trained the run.
            "lr": run.optimizer.lr if _has_one_rate(run) else None,
            "epochs": run.stop.extra_epochs,
        }
        lacking = {name: value for name, value in own.items() if getattr(self, name, 0) is None}
        return super().spelled_out(run).model_copy(update=lacking)

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The run must record this layer, and have one batch size and one learning rate."""
        if run.snapshots is None:
            yield "layer", "needs a recording: set the run's snapshots to a layer."
        elif self.layer != run.snapshots:
            yield "layer", f"is '{self.layer}', but the snapshots are of '{run.snapshots}'."
        if getattr(self, "batch", 0) is None:
            takes = "one batch for each learner" if run.learners else "all images at once"
            yield "batch", f"is missing, and the run itself takes {takes}."
        if getattr(self, "lr", 0) is None:
            other = "a schedule" if run.optimizer.name == "sgd" else f"'{run.optimizer.name}'"
            yield "lr", f"is missing: give that of SGD. The run itself has {other}."

    def directions_of(self, run: RunSpec) -> float:
        """How many p_i there are: centred steps have one independent direction less than steps."""
        steps = run.stop.extra_epochs * run.steps_in_epoch
        return min(steps - 1, _weights(self.layer, run))


def _weights(layer: str, run: RunSpec) -> float:
    """The weights of a layer; those of a user's own net are unknown."""
    if isinstance(run.net, Own):
        return inf
    return run.net.weights_of(layer, run.input_shape, run.outputs)


def _too_many(key: str, wanted: int, layer: str, most: float) -> Iterator[tuple[str, str]]:
    """Refuse more directions than a recording has, or than a layer has weights."""
    if wanted > most == 0:
        yield key, "needs a recording of two steps or more: raise stop.extra_epochs."
    elif wanted > most:
        has = f"there are only {most:,} of '{layer}'"
        yield key, f"asks for {wanted:,} directions, but {has}. Allowed: at most {most:,}."


def _has_one_rate(run: RunSpec) -> bool:
    """Whether one learning rate of SGD made all steps of a run."""
    return run.optimizer.name == "sgd" and run.schedule.kind == "constant"


class TrajectoryPca(AlongRecording):
    """The principal components p_i of a recorded trajectory.

    θ_i is kept for the ranks in `components`. `epochs` follows from the run.
    """

    measure: Literal["trajectory_pca"]
    components: Annotated[tuple[Count, ...], Few, Distinct] = ()
    epochs: LaterEpoch | None = None

    tables: ClassVar = {
        "directions": columns(
            rank=RANK,
            variance=VARIANCE,
            share=(float, "σ_i² / Σ σ_j²"),
            cumulative=(float, "σ_2² + … + σ_i², as a share of Σ σ_j² over j ≥ 2"),
            velocity_time=(
                float,
                "lag τ at which ⟨v(t) v(t + τ)⟩ falls to ⟨v²⟩/e, v = displacement in an epoch",
                "epochs",
            ),
            residual=(float, "|C p_i − σ_i² p_i| / σ_1², for the covariance C of the weights"),
        ),
        "projections": columns(
            rank=RANK,
            step=(int, "step of the recording, from 1"),
            time=(float, "time of the step, from the start of the recording", "epochs"),
            theta=(float, "θ_i, the weights along p_i, from their mean", "w"),
        ),
    }

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """A velocity is the displacement in an epoch, so a correlation of two takes two epochs."""
        yield from super().misfits(run)
        if self.epochs != run.stop.extra_epochs:
            yield "epochs", f"is {self.epochs}, but the run records {run.stop.extra_epochs}."
        elif run.snapshots and run.stop.extra_epochs < 2:
            yield "measure", "needs a recording of two epochs: set stop.extra_epochs."
        largest = max(self.components, default=0)
        yield from _too_many("components", largest, self.layer, self.directions_of(run))


class AlongDirections(AlongRecording):
    """The base of measures of the first `directions` p_i. `profiles`: ranks to draw in full."""

    directions: Count = 200
    profiles: Annotated[tuple[Count, ...], Few, Distinct] = ()

    @model_validator(mode="after")
    def _profiles_are_of_these_directions(self) -> "AlongDirections":
        if self.profiles and max(self.profiles) > self.directions:
            raise ValueError(
                f"profiles names rank {max(self.profiles)}, but directions is {self.directions}"
            )
        return self

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The recording must have these directions."""
        yield from super().misfits(run)
        yield from _too_many("directions", self.directions, self.layer, self.directions_of(run))


class Valley(AlongDirections):
    """F_i: the width along p_i in which the training loss grows by up to `factor`."""

    measure: Literal["valley"]
    factor: Annotated[float, Field(gt=1, le=LARGEST)] = e

    tables: ClassVar = {
        "directions": columns(
            rank=RANK,
            variance=VARIANCE,
            flatness=(float, "F_i = right − left; NaN if an end was not found", "w"),
            left=(float, "step < 0 along p_i where the loss is `factor` times L_0", "w"),
            right=(float, "step > 0 along p_i where it is", "w"),
            slope=(float, "slope of ln L_i at δθ = 0", "1/w"),
            curvature=(float, "M_ii of the parabola through ln L_i at 0 and half-way", "1/w²"),
            **BOTH_ENDS,
        ),
        "profiles": columns(
            rank=RANK,
            delta=DELTA,
            loss=LOSS_THERE,
            quadratic=(float, "loss of the parabola of ln L_i there", "nat"),
        ),
    }
    layer_kind = None

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """A residual connection must not skip the layer."""
        yield from super().misfits(run)
        yield from skipped(self.layer, run)


class OfMinibatches(AlongDirections):
    """The base of measures of the mini loss functions L^µ: the number of images in µ.

    `batch` is the run's own by default.
    """

    batch: Images | None = None

    minibatches_of = "S and attack set"


class MinibatchLosses(OfMinibatches):
    """The minima along p_i, and curvatures, of the losses of random `minibatches`."""

    measure: Literal["minibatch_losses"]
    minibatches: AtLeastTwo = 100

    tables: ClassVar = {
        "directions": columns(
            rank=RANK,
            variance=VARIANCE,
            minimum=(float, "mean over minibatches µ of the minimum θ̃_i of L^µ along p_i", "w"),
            minimum_variance=(float, "σ̃_i², the variance of these minima", "w²"),
            curvature=(float, "mean M_ii of the parabola fitted to ln L^µ up to e min L^µ", "1/w²"),
            product=(float, "M_ii² σ̃_i²", "1/w²"),
            found=(float, "share of the minibatches with a minimum within reach"),
        ),
        "profiles": columns(
            rank=RANK,
            minibatch=(int, "number of µ, from 1"),
            delta=DELTA,
            loss=(float, "L^µ, the mean loss on the minibatch there", "nat"),
        ),
    }


class ActiveTemperature(OfMinibatches):
    """T_i: the strength of SGD's minibatch noise along p_i."""

    measure: Literal["active_temperature"]
    lr: Rate | None = None

    tables: ClassVar = {
        "directions": columns(
            rank=RANK,
            variance=VARIANCE,
            temperature=(float, "T_i = lr/2 · variance over minibatches of the slope at 0", "nat"),
            loss=(float, "mean training loss at δθ = 0", "nat"),
        ),
        "profiles": columns(
            rank=RANK,
            delta=DELTA,
            temperature=(float, "T_i with the slopes there", "nat"),
            loss=LOSS_THERE,
        ),
    }


class Forgetting(AlongRecording):
    """How much of the recorded task a layer forgets while it learns a `task` of other classes.

    A penalty holds the weights back: λ (`strengths`; 0 comes first) times a sum over N_c
    `directions`. `ldc`: the first p_i with their `flatness` F_i, `measured` or from the `variance`.
    `ewc`: the weights with the largest Fisher information.
    """

    measure: Literal["forgetting"]
    method: Literal["ldc", "ewc"] = "ldc"
    flatness: Literal["measured", "variance"] = "measured"
    task: Annotated[tuple[Class, ...], Many, Distinct, InOrder]
    strengths: Annotated[tuple[Rate, ...], Many, Distinct]
    directions: Annotated[tuple[Count, ...], Many, Distinct]
    epochs: Count = 20
    batch: Images | None = None
    lr: Rate | None = None

    tables: ClassVar = {
        "errors": columns(
            time=(float, "time since the second task began", "epochs"),
            strength=STRENGTH,
            directions=HELD,
            epsilon_1=EPSILON_1,
            epsilon_2=EPSILON_2,
            loss_2=LOSS_2,
            method=METHOD,
        ),
        "displacements": columns(
            strength=STRENGTH,
            directions=HELD,
            q=(float, "q_i = |(w2 − w1)·p_i|, how far the last weights are from the first", "w"),
            rank=(int, "i, the rank of the direction; `ewc`: of the weight"),
            flatness=(float, "F_i; `ewc`: 1/√F_jj, with the Fisher information of a weight", "w"),
            converged=(bool, "whether F_i was found"),
            method=METHOD,
        ),
        "points": columns(
            strength=STRENGTH,
            directions=HELD,
            epsilon_1=EPSILON_1._replace(meaning="mean ε1 of the last fifth of the time"),
            epsilon_2=EPSILON_2._replace(meaning="mean ε2 of the last fifth of the time"),
            loss_2=LOSS_2._replace(meaning="mean loss on the second task in the last fifth"),
            change_1=(float, "change of ε1 since the fifth before"),
            residual=(float, "larger change of ε1 or ε2 since the fifth before, up or down"),
            converged=(bool, "whether that is at most 0.01"),
            converged_2=(bool, "whether that of ε2 is at most 0.01"),
            iterations=(int, "steps of SGD"),
            method=METHOD,
        ),
    }
    runtime = 240

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The run must leave out the classes of the second task, and have these directions."""
        yield from super().misfits(run)
        samples = run.samples
        if not isinstance(samples, SubsetSpec) or samples.only is None or run.outputs == 1:
            yield (
                "measure",
                "is only for nets with further, untrained classes: set data.only.",
            )
        else:
            others = [n for n in samples.classes or range(run.outputs) if n not in samples.only]
            if not set(self.task) <= set(others):
                allowed = listed([*map(str, others)]) if others else "none"
                known = f"of the run's {run.outputs} classes of {named(samples.source)}"
                given = shown(list(self.task))
                yield "task", f"is {given}. Allowed, {known} outside data.only: {allowed}."
        # `ewc` holds single weights.
        most = self.directions_of(run) if self.method == "ldc" else _weights(self.layer, run)
        yield from _too_many("directions", max(self.directions), self.layer, most)


class FirstMode(AlongRecording):
    """By how much the right output exceeds the others along p_1, for `images` of each class."""

    measure: Literal["first_mode"]
    images: Images = 5

    tables: ClassVar = {
        "margins": columns(
            label=(int, "the class"),
            theta=(float, "θ_1, the step along p_1 from the solution", "w"),
            margin=(float, "ΔY, the mean of the right logit − the largest other"),
        )
    }

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """There must be a p_1, and the network must have several outputs to compare."""
        yield from super().misfits(run)
        yield from _too_many("measure", 1, self.layer, self.directions_of(run))
        if run.outputs == 1:
            yield "measure", "is only for nets with one output per class: leave out data.positive."
