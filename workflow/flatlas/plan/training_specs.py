"""Specs of training: the optimizer and its options, when to stop, what to keep."""

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from flatlas.plan.bounds import (
    MOST_LAYERS,
    MOST_LISTED,
    Count,
    Epoch,
    Images,
    Kept,
    LaterEpoch,
    NonNegative,
    Positive,
    UpToOne,
)
from flatlas.plan.data_specs import SamplesSpec
from flatlas.plan.declarations import by_tag
from flatlas.plan.families import NetSpec
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.families.own import Own
from flatlas.plan.moments import Epochs
from flatlas.plan.source_sizes import images_to_train_on
from flatlas.plan.spec import Distinct, InOrder, Spec

Rate = Positive
LayerNames = Annotated[tuple[str, ...], Field(max_length=MOST_LAYERS), Distinct, InOrder]


class Optimizer(Spec):
    """The base of all optimizers. Each is a subclass with a tag: `name: Literal["<name>"]`.

    The module of that name in `flatlas.training.optimizers` takes its steps.
    """

    name: str
    lr: Rate


class Sgd(Optimizer):
    """Plain stochastic gradient descent; gradient descent with `batch: full`."""

    name: Literal["sgd"]


class Momentum(Optimizer):
    """SGD with heavy-ball or Nesterov momentum."""

    name: Literal["momentum"]
    momentum: Kept = 0.9
    nesterov: bool = False

    @model_validator(mode="after")
    def _looks_ahead(self) -> "Momentum":
        if self.nesterov and not self.momentum:
            raise ValueError("nesterov: true needs a momentum above 0")
        return self


class Adam(Optimizer):
    """Adam."""

    name: Literal["adam"]
    lr: Rate = 1e-3
    betas: tuple[Kept, Kept] = (0.9, 0.999)
    epsilon: Rate = 1e-8


class AdamW(Optimizer):
    """Adam with decoupled weight decay, w ← (1 − lr · decay) w."""

    name: Literal["adamw"]
    lr: Rate = 1e-3
    betas: tuple[Kept, Kept] = (0.9, 0.999)
    epsilon: Rate = 1e-8
    decay: NonNegative = 0.01


class RmsProp(Optimizer):
    """RMSProp."""

    name: Literal["rmsprop"]
    lr: Rate = 1e-3
    smoothing: Kept = 0.99
    epsilon: Rate = 1e-8


class Adagrad(Optimizer):
    """Adagrad. Its sum of squared gradients begins at `initial_accumulator`."""

    name: Literal["adagrad"]
    lr: Rate = 1e-2
    epsilon: Rate = 1e-10
    initial_accumulator: NonNegative | None = None


class EntropySgd(Optimizer):
    """Entropy-SGD (Chaudhari et al. 2017): `langevin_steps` noisy inner steps per outer step."""

    name: Literal["entropy_sgd"]
    lr: Rate = 1.0
    langevin_steps: Count = 5
    gamma: NonNegative = 1e-3
    noise: NonNegative = 1e-4
    averaging: Kept = 0.75
    inner_lr: Rate = 0.1


class Sam(Optimizer):
    """Sharpness-aware minimization (Foret et al. 2021): SGD with the gradient taken at w + ε.

    ε = ρ g/‖g‖, where g is the gradient of the minibatch's loss at w and ρ is the `radius`. Each
    learner takes its own ε. A penalty is not part of g, and its gradient is taken at w.
    """

    name: Literal["sam"]
    radius: Rate = 0.05
    adaptive: bool = False
    """`true`: ε = ρ w² g/‖w g‖, elementwise (ASAM, Kwon et al. 2021, with η = 0)."""


OPTIMIZERS = by_tag(Optimizer.__subclasses__(), "name")
"""The optimizers by name."""

if TYPE_CHECKING:
    OptimizerSpec = Optimizer
else:
    OptimizerSpec = Annotated[reduce(or_, OPTIMIZERS.values()), Field(discriminator="name")]


class Schedule(Spec):
    """The factor on the learning rate over the epochs."""

    kind: Literal["constant", "step", "linear_tail"] = "constant"
    """Its shape."""
    epochs: Annotated[tuple[LaterEpoch, ...], Field(max_length=MOST_LISTED), Distinct, InOrder] = ()
    """`step`: the last epoch before each step. For this kind only, and required."""
    factor: Rate = 0.1
    """`step`: the factor at each step."""
    hold: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """`linear_tail`: the share of the epochs with the full rate. Then it falls linearly."""
    land: UpToOne = 0.9
    """`linear_tail`: the share after which the rate stays at `floor`; above `hold`."""
    floor: UpToOne = 0.01
    """`linear_tail`: the last factor."""

    @model_validator(mode="after")
    def _makes_sense(self) -> "Schedule":
        kinds = {"factor": "step", **dict.fromkeys(("hold", "land", "floor"), "linear_tail")}
        for name, kind in kinds.items():
            default = type(self).model_fields[name].default
            if kind != self.kind and getattr(self, name) != default:
                raise ValueError(
                    f"{name} has no effect with kind: {self.kind}. Leave it out, or set "
                    f"kind: {kind}"
                )
        if (self.kind == "step") != bool(self.epochs):
            raise ValueError("the epochs of the steps belong to kind: step, and only there")
        if self.land <= self.hold:
            raise ValueError(f"land is {self.land:g}, but must be above hold, {self.hold:g}")
        return self


class Penalty(Spec):
    """Weight decay as a term of the loss, over all weights and biases."""

    form: Literal["squared", "unsquared", "half_squared"] = "squared"
    """β‖w‖², β‖w‖, or β/2 ‖w‖², which torch.optim calls weight_decay."""
    coefficient: NonNegative = 0.0
    """β."""
    until_epoch: LaterEpoch | None = None
    """The last epoch with the term. Default: all epochs have it."""


class Stop(Spec):
    """When a realization stops: at the first epoch that meets the rules.

    Without a rule all `epochs` run.
    """

    loss_below: Rate | None = None
    """Rule: a limit for the mean loss on the clean training images."""
    zero_error: bool = False
    """Rule: no clean training image is misclassified."""
    epochs: Epoch
    """Limit: a training that reaches it without meeting the rules is recorded as not converged.

    0: nothing is trained, and the initial weights are the solution.
    """
    extra_epochs: Epoch = 0
    """Further epochs after the rules are met."""

    @model_validator(mode="after")
    def _no_epochs_wait_for_nothing(self) -> "Stop":
        if not self.epochs and (self.extra_epochs or self.zero_error or self.loss_below):
            raise ValueError("0 epochs train nothing: leave out the rules and extra_epochs")
        return self


class IterateAverage(Spec):
    """The solution is the running mean of the weights over all steps."""

    from_epoch: LaterEpoch
    """The first epoch of the mean.

    A training that meets its rule before this epoch has no mean: its last weights are the solution.
    """


class Learners(Spec):
    """Train with m learners, in parallel."""

    kind: Literal["ssgd", "dpsgd"]
    """`ssgd`: one common gradient. `dpsgd`: each learner averages its weights with others."""
    count: Annotated[int, Field(gt=0, le=1024)]
    """m."""
    mixing: Literal["ring", "neighbourhood", "full"] = "ring"
    """Which weights `dpsgd` averages: those of both neighbours, these and its own, or all.

    Weights that alternate around the ring diverge if curvature times learning rate exceeds a limit:
    1 − cos(π/m) on a `ring` (0 if m is even), at least 2/3 with `neighbourhood`.
    """


class Rescaling(Spec):
    """An α-scaling that keeps the function: W_l, b_l times α and W_{l+1} / α.

    It happens once, at the end of an epoch; training continues with the new weights.
    """

    layer: str
    """l: a dense layer except the last."""
    factor: Rate
    """α."""
    after: LaterEpoch
    """Epochs after the stopping rule is met."""


class Expected(Spec):
    """The known error or loss of a checkpoint: of `net.weights` with `stop.epochs: 0`.

    A checkpoint with a far larger error, or with more than twice or less than half the loss, is
    recorded as not converged, with a warning that the source's `normalize` may be wrong. Without
    `train_error`, a checkpoint with an error near chance is recorded as not converged, too.
    """

    train_error: Annotated[float, Field(ge=0, le=1)] | None = None
    """The share of its training images that it misclassifies."""
    train_loss: Annotated[float, Field(gt=0)] | None = None
    """Its mean cross-entropy or logistic loss of training images, in nats, without a penalty."""

    @model_validator(mode="after")
    def _says_something(self) -> "Expected":
        if self.train_error is None and self.train_loss is None:
            raise ValueError("set train_error, train_loss or both")
        return self


def given_to(net: NetSpec) -> str | None:
    """The file of a net's weights, if they are given rather than drawn."""
    return net.weights if isinstance(net, Own | DenseNet) else None


class Training(Spec):
    """All settings of a training except the data and the realizations."""

    net: NetSpec
    """Family and options."""
    optimizer: OptimizerSpec
    """Name and options."""
    batch: Images | Literal["full"]
    """Images in a minibatch, of each learner if there are `learners`; `full`: gradient descent."""
    stop: Stop
    expected: Expected | None = None
    schedule: Schedule = Schedule()
    penalty: Penalty = Penalty()
    average: IterateAverage | None = None
    learners: Learners | None = None
    rescaling: Rescaling | None = None
    checkpoints: Epochs = ()
    """Epochs whose weights to keep, 0 before training: `[0, 5, "10..100/10"]`."""
    overtraining: Epochs = ()
    """The same, counted from the epoch that met the stopping rule."""
    snapshots: str | None = None
    """A dense layer or convolution to record after every minibatch of `stop.extra_epochs`."""
    frozen: Annotated[LayerNames, Field(min_length=1)] | None = None
    """Layers that are not trained."""
    precision: Literal["bfloat16"] | None = None
    """In gradients of nets with convolutions: the precision of products and of layers' outputs.

    Weights, their gradients, steps and evaluations are float32.
    """

    @field_validator("schedule", "penalty", mode="before")
    @classmethod
    def _none(cls, given: Any) -> Any:
        """`null` takes back what an earlier file has set."""
        return {} if given is None else given

    @model_validator(mode="after")
    def _fits_together(self) -> "Training":
        for why in self._misfits():
            raise ValueError(why)
        return self

    @property
    def learner_count(self) -> int:
        """m; 1 if a training has no learners."""
        return self.learners.count if self.learners else 1

    @property
    def given_weights(self) -> str | None:
        """The file of a checkpoint that is not trained here."""
        # A run with `start` takes its weights from another run.
        trained = self.stop.epochs or getattr(self, "start", None)
        return None if trained else given_to(self.net)

    def _misfits(self) -> Iterator[str]:
        """Options that do not fit together, and why."""
        stop, rescaling = self.stop, self.rescaling
        beyond, last = stop.extra_epochs, stop.epochs + stop.extra_epochs
        if self.expected and not self.given_weights:
            yield "expected is only for a checkpoint: net.weights with stop.epochs: 0"
        if self.average and self.average.from_epoch > last:
            yield f"average.from_epoch is after the last epoch, {last}"
        if max(self.checkpoints, default=0) > last:
            yield f"checkpoints has {max(self.checkpoints)}, after the last epoch, {last}"
        if 0 < last <= max(self.schedule.epochs, default=0):
            late = max(self.schedule.epochs)
            yield (
                f"schedule.epochs has {late}, but no epoch follows it: the last is {last}. Choose "
                "earlier epochs, or more stop.epochs"
            )
        if self.learners and isinstance(self.optimizer, EntropySgd):
            yield "learners can't share the noisy inner steps of entropy_sgd"
        for late in (*self.overtraining, *([rescaling.after] if rescaling else ())):
            if late > beyond:
                yield f"{late} epochs after the rule are more than extra_epochs, {beyond}"
        if self.overtraining and not stop.epochs:
            yield "with stop.epochs 0 no rule is met: leave out overtraining"
        not_last = self.average or isinstance(self.optimizer, EntropySgd)
        if rescaling and not_last:
            yield "rescaling needs an optimizer whose solution is its last iterate"
        if rescaling and self.frozen:
            yield "rescaling changes two layers: leave it out, or frozen"
        if self.precision and self.net.only_dense:
            yield "precision is only for nets with convolutions: a dense net has float32"
        if self.snapshots and not beyond:
            yield "snapshots are taken in stop.extra_epochs, which is 0"
        if self.snapshots and (not_last or rescaling):
            yield "snapshots end at the solution only without average, rescaling and entropy_sgd"


class StartSpec(Spec):
    """Where a run begins: each realization at the solution of another run, of the same seed.

    The layers in `fresh` are initialized again.
    """

    run: "RunSpec"
    fresh: tuple[str, ...] = ()


class RunSpec(Training):
    """What defines a training: one hyperparameter point with all its realizations.

    `input_shape` (channels, height, width) and `outputs` follow from the data; one output means
    a binary task. Without `start` all weights are drawn.
    """

    samples: SamplesSpec
    input_shape: tuple[PositiveInt, PositiveInt, PositiveInt]
    outputs: PositiveInt
    seeds: tuple[NonNegativeInt, ...] = Field(min_length=1)
    start: StartSpec | None = None

    @property
    def minibatch(self) -> int:
        """The images in a minibatch of each learner, also if the batch is `full`."""
        if self.batch != "full":
            return self.batch
        return images_to_train_on(self.samples) // self.learner_count

    @property
    def steps_in_epoch(self) -> int:
        """The minibatches of an epoch. The last one may be smaller, but has an image a learner."""
        images, learners = images_to_train_on(self.samples), self.learner_count
        return len(range(0, images - learners + 1, self.minibatch * learners))


# A run that starts from another contains its spec, so the two specs refer to each other.
StartSpec.model_rebuild()
RunSpec.model_rebuild()
