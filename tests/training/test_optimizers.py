"""On a stack, each optimizer does to every member what torch.optim does to that member alone."""

import pytest
import torch
from pydantic import TypeAdapter

from flatlas.plan.training_specs import OPTIMIZERS, OptimizerSpec
from flatlas.training.noise import Noise
from flatlas.training.optimizers import build_optimizer

ROWS, RATE = 3, 0.05
SHAPES = {"fc1.weight": (4, 3), "fc1.bias": (3,)}
ADAM, IN_TORCH_ADAM = ({"betas": (0.8, 0.95), name: 0.1} for name in ("epsilon", "eps"))
# Ours, the class in torch, and its options.
TWINS = {
    "sgd": ({"name": "sgd"}, "SGD", {}),
    "momentum": ({"name": "momentum", "momentum": 0.8}, "SGD", {"momentum": 0.8}),
    "nesterov": (
        {"name": "momentum", "nesterov": True},
        "SGD",
        {"momentum": 0.9, "nesterov": True},
    ),
    "adam": ({"name": "adam", **ADAM}, "Adam", IN_TORCH_ADAM),
    "adamw": (
        {"name": "adamw", **ADAM, "decay": 0.1},
        "AdamW",
        IN_TORCH_ADAM | {"weight_decay": 0.1},
    ),
    "rmsprop": (
        {"name": "rmsprop", "smoothing": 0.9, "epsilon": 0.1},
        "RMSprop",
        {"alpha": 0.9, "eps": 0.1},
    ),
    "adagrad": (
        {"name": "adagrad", "epsilon": 0.1, "initial_accumulator": 0.2},
        "Adagrad",
        {"eps": 0.1, "initial_accumulator_value": 0.2},
    ),
    # Where the gradient is taken is the trainer's part (test_sam.py).
    "sam": ({"name": "sam"}, "SGD", {}),
}
ENTROPY = {"name": "entropy_sgd", "langevin_steps": 4, "noise": 0.1, "gamma": 0.1, "inner_lr": 0.05}
ALL = {case: spec for case, (spec, _, _) in TWINS.items()} | {"entropy_sgd": ENTROPY}


def stack():
    """Weights for each row, each drawn from its own seed."""
    generators = [torch.Generator().manual_seed(row) for row in range(ROWS)]
    return {
        name: torch.stack([torch.randn(shape, generator=g) for g in generators])
        for name, shape in SHAPES.items()
    }


def built(case, parameters):
    spec = TypeAdapter(OptimizerSpec).validate_python({"lr": RATE, **ALL[case]})
    noise = [Noise(100 + row) for row in range(ROWS)]
    return build_optimizer(spec, parameters, noise)


def slopes(parameters, step):
    """Gradients that change with the weights and the step."""
    return {name: torch.sin(3 * value + step) for name, value in parameters.items()}


def advance(optimizer, *steps, rate=lambda step: RATE):
    for step in range(*steps):
        optimizer.step(slopes(optimizer.parameters, step), rate(step))


def test_every_optimizer_is_among_the_cases():
    assert {case["name"] for case in ALL.values()} == {*OPTIMIZERS}


@pytest.mark.parametrize("case", TWINS)
def test_a_stack_follows_torch_member_by_member(case):
    """With a learning rate that falls to a tenth after ten of twenty steps."""
    optimizer = built(case, stack())
    advance(optimizer, 20, rate=lambda step: RATE * 0.1 ** (step >= 10))
    _, kind, values = TWINS[case]
    for row in range(ROWS):
        alone = {name: value[row].clone() for name, value in stack().items()}
        twin = getattr(torch.optim, kind)(list(alone.values()), lr=RATE, **values)
        schedule = torch.optim.lr_scheduler.MultiStepLR(twin, [10])
        for step in range(20):
            for name, slope in slopes(alone, step).items():
                alone[name].grad = slope
            twin.step()
            schedule.step()
        for name, value in optimizer.solution().items():
            torch.testing.assert_close(value[row], alone[name])


@pytest.mark.parametrize("first", [0, 6])
@pytest.mark.parametrize("case", ALL)
def test_rows_that_leave_do_not_change_those_that_stay(case, first):
    """Rows may leave before the first step, too."""
    shrinking, whole = (built(case, stack()) for _ in range(2))
    for optimizer in (shrinking, whole):
        advance(optimizer, first)
    shrinking.keep(torch.tensor([0, 2]))
    for optimizer in (shrinking, whole):
        advance(optimizer, first, 9)
    shrinking.keep(torch.tensor([1]))
    for optimizer in (shrinking, whole):
        advance(optimizer, 9, 15)
    for name in SHAPES:
        assert torch.equal(shrinking.solution()[name][0], whole.solution()[name][2])
        assert torch.equal(shrinking.parameters[name][0], whole.parameters[name][2])
