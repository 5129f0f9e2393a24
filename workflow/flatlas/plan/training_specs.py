"""Specs of training: the optimizer and its options, when to stop, what to keep."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from flatlas.plan.data_specs import SamplesSpec
from flatlas.plan.families import NetSpec
from flatlas.plan.moments import Epochs
from flatlas.plan.spec import Spec

Rate = Annotated[float, Field(gt=0)]
Fraction = Annotated[float, Field(ge=0, lt=1)]


class Sgd(Spec):
    """Plain stochastic gradient descent; with `batch: full` it is gradient descent."""

    name: Literal["sgd"]
    lr: Rate


class Momentum(Spec):
    """SGD with heavy-ball or Nesterov momentum."""

    name: Literal["momentum"]
    lr: Rate
    momentum: Fraction = 0.9
    nesterov: bool = False


class Adam(Spec):
    """Adam."""

    name: Literal["adam"]
    lr: Rate = 1e-3
    betas: tuple[Fraction, Fraction] = (0.9, 0.999)
    epsilon: Rate = 1e-8


class AdamW(Spec):
    """Adam with decoupled weight decay: w <- w - lr * decay * w."""

    name: Literal["adamw"]
    lr: Rate = 1e-3
    betas: tuple[Fraction, Fraction] = (0.9, 0.999)
    epsilon: Rate = 1e-8
    decay: Annotated[float, Field(ge=0)] = 0.01


class RmsProp(Spec):
    """RMSProp."""

    name: Literal["rmsprop"]
    lr: Rate = 1e-3
    smoothing: Fraction = 0.99
    epsilon: Rate = 1e-8


class Adagrad(Spec):
    """Adagrad."""

    name: Literal["adagrad"]
    lr: Rate = 1e-2
    epsilon: Rate = 1e-10


class EntropySgd(Spec):
    """Entropy-SGD (Chaudhari et al. 2017): `langevin_steps` noisy inner steps, then one outer."""

    name: Literal["entropy_sgd"]
    lr: Rate = 1.0
    langevin_steps: PositiveInt = 5
    gamma: Annotated[float, Field(ge=0)] = 1e-3
    noise: Annotated[float, Field(ge=0)] = 1e-4
    averaging: Fraction = 0.75
    inner_lr: Rate = 0.1


OptimizerSpec = Annotated[
    Sgd | Momentum | Adam | AdamW | RmsProp | Adagrad | EntropySgd, Field(discriminator="name")
]


class Schedule(Spec):
    """Learning-rate factors over epochs: constant, in steps, or constant with a linear tail.

    `step` multiplies by `factor` at each of `epochs`; `linear_tail` keeps the rate for
    the share `hold` of the epochs, falls linearly to `floor` at the share `land`, and stays.
    """

    kind: Literal["constant", "step", "linear_tail"] = "constant"
    """The shape of the schedule."""
    epochs: tuple[PositiveInt, ...] = ()
    factor: Rate = 0.1
    hold: Annotated[float, Field(gt=0, lt=1)] = 0.5
    land: Annotated[float, Field(gt=0, le=1)] = 0.9
    floor: Annotated[float, Field(gt=0, le=1)] = 0.01

    @model_validator(mode="after")
    def _makes_sense(self) -> "Schedule":
        if (self.kind == "step") != bool(self.epochs):
            raise ValueError("the epochs of the steps belong to kind: step, and only there")
        if self.land <= self.hold:
            raise ValueError(f"land is {self.land:g}, but must be above hold, {self.hold:g}")
        return self


class Penalty(Spec):
    """Weight decay as the papers write it, in the loss, for the first `until_epoch` epochs.

    `squared` is beta |w|²; `unsquared` is beta |w|; `half_squared` is beta/2 |w|², the form
    that torch.optim calls weight_decay. The norm is over all weights and biases of the net.
    """

    form: Literal["squared", "unsquared", "half_squared"] = "squared"
    """The power and factor of the norm ‖w‖."""
    coefficient: Annotated[float, Field(ge=0)] = 0.0
    """β."""
    until_epoch: PositiveInt | None = None


class Stop(Spec):
    """When a realization stops: at the first epoch that meets a rule, or some epochs after it.

    `loss_below` is a limit for the mean loss on the clean training images; `zero_error` stops when
    none of them is misclassified; without either, all `epochs` run. `epochs` limits the wait: a
    training that reaches it without meeting the rule is recorded as not converged. With 0
    nothing is trained: the weights that a training would begin with are the solution.
    """

    loss_below: Rate | None = None
    zero_error: bool = False
    epochs: NonNegativeInt
    extra_epochs: NonNegativeInt = 0
    """Epochs to train after the rule is met."""

    @model_validator(mode="after")
    def _no_epochs_wait_for_nothing(self) -> "Stop":
        if not self.epochs and (self.extra_epochs or self.zero_error or self.loss_below):
            raise ValueError("0 epochs train nothing: give no rule and no extra_epochs beside them")
        return self


class IterateAverage(Spec):
    """The running mean of the weights after every step from `from_epoch` on is the solution."""

    from_epoch: PositiveInt


class Learners(Spec):
    """m learners: `ssgd` shares one gradient, `dpsgd` averages each with its neighbours.

    On a `ring` the mean of the two neighbours turns weights that alternate from learner to learner
    into their opposite. They diverge if the curvature times the learning rate exceeds
    1 - cos(pi / count), and an even number of them if it exceeds 0. With the mean of a learner
    and its two neighbours, its `neighbourhood`, that is 2/3 at least.
    """

    kind: Literal["ssgd", "dpsgd"]
    """`ssgd`: one common gradient. `dpsgd`: each learner averages with its neighbours."""
    count: PositiveInt
    """The number of learners, m."""
    mixing: Literal["ring", "neighbourhood", "full"] = "ring"
    """Whose weights are averaged: the two neighbours', these and the learner's own, or all."""


class Rescaling(Spec):
    """The α-scaling of a dense layer, once, `after` so many epochs beyond the stopping rule.

    W_l, b_l become αW_l, αb_l and W_{l+1} becomes W_{l+1}/α, with α the `factor`: the net's
    function stays the same. It happens at the end of that epoch; training continues from there.
    """

    layer: str
    """A dense layer that is not the last."""
    factor: Rate
    after: PositiveInt


class Training(Spec):
    """Everything about a training except the data and the realizations.

    Weights are kept at the epochs in `checkpoints` (0: before training) and, in `overtraining`, so
    many epochs after the stopping rule was met. `snapshots` names a layer whose weights are kept
    after every minibatch of the `stop.extra_epochs`. No step moves the layers in `frozen`. Weights,
    steps and all that is recorded of a training are float32, whatever its `precision`.
    """

    net: NetSpec
    """The family and its options."""
    optimizer: OptimizerSpec
    """The name and its options."""
    batch: PositiveInt | Literal["full"]
    """Images in a minibatch, or `full` for gradient descent."""
    stop: Stop
    schedule: Schedule = Schedule()
    penalty: Penalty = Penalty()
    average: IterateAverage | None = None
    learners: Learners | None = None
    rescaling: Rescaling | None = None
    checkpoints: Epochs = ()
    """Epochs whose weights to keep: `[0, 5, "10..100/10"]`."""
    overtraining: Epochs = ()
    """The same, counted from the epoch that met the stopping rule."""
    snapshots: str | None = None
    """A dense layer whose weights to keep after every minibatch of `stop.extra_epochs`."""
    frozen: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Layers that no step moves."""
    precision: Literal["bfloat16"] | None = None
    """The precision of gradient products in nets with convolutions; float32 by default."""

    @model_validator(mode="after")
    def _average_begins_in_time(self) -> "Training":
        last = self.stop.epochs + self.stop.extra_epochs
        if self.average and self.average.from_epoch > last:
            raise ValueError(f"average.from_epoch is after the last epoch, {last}")
        return self

    @model_validator(mode="after")
    def _learners_step_together(self) -> "Training":
        if self.learners and isinstance(self.optimizer, EntropySgd):
            raise ValueError("learners can't share the noisy inner steps of entropy_sgd")
        return self

    @model_validator(mode="after")
    def _there_is_time_after_the_rule(self) -> "Training":
        last = self.stop.extra_epochs
        for late in (*self.overtraining, *([self.rescaling.after] if self.rescaling else ())):
            if late > last:
                raise ValueError(f"{late} epochs after the rule are more than extra_epochs, {last}")
        return self

    @model_validator(mode="after")
    def _the_rule_can_be_met(self) -> "Training":
        if self.overtraining and not self.stop.epochs:
            raise ValueError("with stop.epochs 0 no rule is met: leave out overtraining")
        return self

    @model_validator(mode="after")
    def _rescaled_weights_are_the_solution(self) -> "Training":
        if self.rescaling and (self.average or isinstance(self.optimizer, EntropySgd)):
            raise ValueError("rescaling needs an optimizer whose solution is its last iterate")
        return self

    @model_validator(mode="after")
    def _frozen_layers_are_not_rescaled(self) -> "Training":
        if self.rescaling and self.frozen:
            raise ValueError("rescaling changes two layers: leave it out, or frozen")
        return self

    @model_validator(mode="after")
    def _precision_is_of_convolutions(self) -> "Training":
        if self.precision and self.net.only_dense:
            raise ValueError("precision is of nets with convolutions: a dense net is float32")
        return self

    @model_validator(mode="after")
    def _snapshots_have_their_epochs(self) -> "Training":
        if self.snapshots and not self.stop.extra_epochs:
            raise ValueError("snapshots are taken in stop.extra_epochs, which is 0")
        return self


class StartSpec(Spec):
    """Where a run begins: each realization at the solution of another run with the same seed.

    The layers in `fresh` are initialized again.
    """

    run: "RunSpec"
    fresh: tuple[str, ...] = ()


class RunSpec(Training):
    """One hyperparameter point with all its realizations: what defines a training.

    `input_shape` (channels, height, width) and `outputs` follow from the data; one output means
    a binary task. Without `start` all weights are drawn.
    """

    samples: SamplesSpec
    input_shape: tuple[PositiveInt, PositiveInt, PositiveInt]
    outputs: PositiveInt
    seeds: tuple[NonNegativeInt, ...] = Field(min_length=1)
    start: StartSpec | None = None


# A run that starts from another contains its spec, so the two specs refer to each other.
StartSpec.model_rebuild()
RunSpec.model_rebuild()
