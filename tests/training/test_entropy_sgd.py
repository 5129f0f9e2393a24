"""Entropy-SGD against its equations, written out for one member."""

import pytest
import torch

from flatlas.plan.training_specs import EntropySgd, Sgd
from flatlas.training.optimizers import build_optimizer

ROWS, WEIGHTS = 3, 5


def start(row):
    return torch.randn(WEIGHTS, generator=torch.Generator().manual_seed(row), dtype=torch.float64)


def slope(w, step):
    return torch.sin(3 * w + step)


def stream(row):
    return torch.Generator().manual_seed(100 + row)


def stacked(spec, steps):
    parameters = {"w": torch.stack([start(row) for row in range(ROWS)])}
    optimizer = build_optimizer(spec, parameters, [stream(row) for row in range(ROWS)])
    for step in range(steps):
        optimizer.step({"w": slope(optimizer.parameters["w"], step)}, spec.lr)
    return optimizer


def by_the_equations(spec, row, steps):
    """x, x' and mu of one member after some gradients."""
    x, noise = start(row), stream(row)
    inner, mu = x, x
    for step in range(steps):
        if step % spec.langevin_steps == 0:
            inner, mu = x, x
        # Drawn in float32, the type that training has.
        epsilon = spec.noise * torch.randn(WEIGHTS, generator=noise).double()
        drift = slope(inner, step) + spec.gamma * (inner - x)
        inner = inner - spec.inner_lr * drift + spec.inner_lr**0.5 * epsilon
        mu = spec.averaging * mu + (1 - spec.averaging) * inner
        if step % spec.langevin_steps == spec.langevin_steps - 1:
            x = x - spec.lr * (x - mu)
            inner = x
    return x, inner


@pytest.mark.parametrize("steps", [3, 20, 22])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_it_follows_its_equations(noise, steps):
    spec = EntropySgd(
        name="entropy_sgd",
        lr=0.7,
        langevin_steps=5,
        gamma=0.2,
        noise=noise,
        averaging=0.6,
        inner_lr=0.05,
    )
    optimizer = stacked(spec, steps)
    for row in range(ROWS):
        x, inner = by_the_equations(spec, row, steps)
        torch.testing.assert_close(optimizer.solution()["w"][row], x, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(optimizer.parameters["w"][row], inner, rtol=1e-12, atol=1e-12)


def test_the_solution_moves_after_the_last_langevin_step_only():
    spec = EntropySgd(name="entropy_sgd", langevin_steps=5)
    before, after = stacked(spec, 4).solution()["w"], stacked(spec, 5).solution()["w"]
    assert torch.equal(before[0], start(0))
    assert not torch.equal(after[0], start(0))


def test_without_its_entropy_it_is_sgd():
    bare = {"langevin_steps": 1, "averaging": 0.0, "gamma": 0.0, "noise": 0.0, "lr": 1.0}
    entropy = stacked(EntropySgd(name="entropy_sgd", inner_lr=0.05, **bare), 20)
    plain = stacked(Sgd(name="sgd", lr=0.05), 20)
    torch.testing.assert_close(entropy.solution(), plain.solution(), rtol=1e-12, atol=1e-12)


def test_the_scope_holds_the_langevin_steps_near_the_outer_weights():
    """With gamma = 1 / inner_lr each step begins at x again: |x' - x| <= inner_lr |gradient|."""
    values = {"noise": 0.0, "averaging": 0.0, "inner_lr": 0.05, "langevin_steps": 50}
    optimizer = stacked(EntropySgd(name="entropy_sgd", gamma=20.0, **values), 49)
    distance = (optimizer.parameters["w"] - optimizer.solution()["w"]).abs().max()
    assert 0 < distance <= 0.05
