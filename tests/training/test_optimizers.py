"""On a stack, each optimizer does to every member what torch.optim does to that member alone."""

import pytest
import torch
from pydantic import TypeAdapter

from flatlas.plan.training_specs import OptimizerSpec
from flatlas.store.arrays import read_arrays, write_arrays
from flatlas.training.optimizers import build_optimizer

ROWS, RATE = 3, 0.05
SHAPES = {"fc1.weight": (4, 3), "fc1.bias": (3,)}
IN_TORCH = {
    "sgd": ({}, torch.optim.SGD, {}),
    "momentum": ({"momentum": 0.8}, torch.optim.SGD, {"momentum": 0.8}),
    "nesterov": (
        {"name": "momentum", "nesterov": True},
        torch.optim.SGD,
        {"momentum": 0.9, "nesterov": True},
    ),
    "adam": (
        {"betas": (0.8, 0.95), "epsilon": 0.1},
        torch.optim.Adam,
        {"betas": (0.8, 0.95), "eps": 0.1},
    ),
    "adamw": (
        {"decay": 0.1, "betas": (0.8, 0.95), "epsilon": 0.1},
        torch.optim.AdamW,
        {"weight_decay": 0.1, "betas": (0.8, 0.95), "eps": 0.1},
    ),
    "rmsprop": (
        {"smoothing": 0.9, "epsilon": 0.1},
        torch.optim.RMSprop,
        {"alpha": 0.9, "eps": 0.1},
    ),
    "adagrad": ({"epsilon": 0.1}, torch.optim.Adagrad, {"eps": 0.1}),
}
ALL = {case: values for case, (values, _, _) in IN_TORCH.items()} | {
    "entropy_sgd": {"langevin_steps": 4, "noise": 0.1, "gamma": 0.1, "inner_lr": 0.05}
}


def stack(rows=range(ROWS)):
    """Weights for each row; a row's values hang on its number alone."""
    generators = [torch.Generator().manual_seed(row) for row in rows]
    return {
        name: torch.stack([torch.randn(shape, generator=g) for g in generators])
        for name, shape in SHAPES.items()
    }


def built(case, parameters, rows=range(ROWS)):
    spec = TypeAdapter(OptimizerSpec).validate_python({"name": case, "lr": RATE} | ALL[case])
    noise = [torch.Generator().manual_seed(100 + row) for row in rows]
    return build_optimizer(spec, parameters, noise), noise


def slopes(parameters, step):
    """Gradients that change with the weights and the step."""
    return {name: torch.sin(3 * value + step) for name, value in parameters.items()}


def advance(optimizer, steps, rate=lambda step: RATE):
    for step in steps:
        optimizer.step(slopes(optimizer.parameters, step), rate(step))


@pytest.mark.parametrize("case", IN_TORCH)
def test_a_stack_follows_torch_member_by_member(case):
    """With a learning rate that falls to a tenth after ten of twenty steps."""
    optimizer, _ = built(case, stack())
    advance(optimizer, range(20), lambda step: RATE * 0.1 ** (step >= 10))
    _, kind, values = IN_TORCH[case]
    for row in range(ROWS):
        alone = {name: value[row].clone() for name, value in stack().items()}
        twin = kind(list(alone.values()), lr=RATE, **values)
        schedule = torch.optim.lr_scheduler.MultiStepLR(twin, [10])
        for step in range(20):
            for name, slope in slopes(alone, step).items():
                alone[name].grad = slope
            twin.step()
            schedule.step()
        for name, value in optimizer.solution().items():
            torch.testing.assert_close(value[row], alone[name])


@pytest.mark.parametrize("case", ALL)
def test_rows_that_stay_do_not_notice_those_that_leave(case):
    shrinking, _ = built(case, stack())
    whole, _ = built(case, stack())
    for optimizer in (shrinking, whole):
        advance(optimizer, range(6))
    shrinking.keep(torch.tensor([0, 2]))
    for optimizer in (shrinking, whole):
        advance(optimizer, range(6, 9))
    shrinking.keep(torch.tensor([1]))
    for optimizer in (shrinking, whole):
        advance(optimizer, range(9, 15))
    for name, value in whole.solution().items():
        assert torch.equal(shrinking.solution()[name][0], value[2])
    for name, value in whole.parameters.items():
        assert torch.equal(shrinking.parameters[name][0], value[2])


@pytest.mark.parametrize("case", ALL)
def test_a_state_on_disk_is_all_it_takes_to_go_on(case, tmp_path):
    optimizer, noise = built(case, stack())
    advance(optimizer, range(7))
    for part, tensors in (("state", optimizer.state()), ("weights", optimizer.parameters)):
        write_arrays(tmp_path / part, {name: value.numpy() for name, value in tensors.items()})
    positions = [generator.get_state() for generator in noise]
    advance(optimizer, range(7, 12))

    state, weights = (
        {name: torch.from_numpy(value) for name, value in read_arrays(tmp_path / part).items()}
        for part in ("state", "weights")
    )
    later, noise = built(case, {name: weights[name] for name in SHAPES})
    later.restore(state)
    for generator, position in zip(noise, positions, strict=True):
        generator.set_state(position)
    advance(later, range(7, 12))
    for name, value in optimizer.solution().items():
        assert torch.equal(later.solution()[name], value)


@pytest.mark.parametrize("case", ALL)
def test_rows_may_leave_before_the_first_step(case):
    shrunk, _ = built(case, stack())
    shrunk.keep(torch.tensor([0, 1]))
    alone, _ = built(case, stack([0, 1]), rows=[0, 1])
    for optimizer in (shrunk, alone):
        advance(optimizer, range(5))
    for name, value in alone.solution().items():
        assert torch.equal(shrunk.solution()[name], value)
