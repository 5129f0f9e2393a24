"""Entropy-SGD against its equations, written out for one member."""

import pytest
import torch

from flatlas.plan.training_specs import EntropySgd
from flatlas.training.noise import Noise
from flatlas.training.optimizers import build_optimizer

ROWS, WEIGHTS = 3, 5
USUAL = {"lr": 0.7, "langevin_steps": 5, "gamma": 0.2, "noise": 0.3, "averaging": 0.6}
CASES = {
    "usual": USUAL,
    "without noise": USUAL | {"noise": 0.0},
    # SGD: every Langevin step is followed by an outer step to where it led.
    "sgd": {"lr": 1.0, "langevin_steps": 1, "gamma": 0.0, "noise": 0.0, "averaging": 0.0},
}


def start(row):
    return torch.randn(WEIGHTS, generator=torch.Generator().manual_seed(row), dtype=torch.float64)


def slope(w, step):
    return torch.sin(3 * w + step)


def stream(row):
    return Noise(100 + row)


def by_the_equations(spec, row, steps):
    """x and x' of one member after some gradients."""
    x, noise = start(row), stream(row)
    inner, mu = x, x
    for step in range(steps):
        if step % spec.langevin_steps == 0:
            inner, mu = x, x
        # Drawn in float32, the type that training has.
        epsilon = spec.noise * torch.from_numpy(noise.draw(WEIGHTS)).double()
        drift = slope(inner, step) + spec.gamma * (inner - x)
        inner = inner - spec.inner_lr * drift + spec.inner_lr**0.5 * epsilon
        mu = spec.averaging * mu + (1 - spec.averaging) * inner
        if step % spec.langevin_steps == spec.langevin_steps - 1:
            x = x - spec.lr * (x - mu)
            inner = x
    return x, inner


@pytest.mark.parametrize("steps", [3, 4, 5, 20, 22])
@pytest.mark.parametrize("case", CASES)
def test_it_follows_its_equations(case, steps):
    spec = EntropySgd(name="entropy_sgd", inner_lr=0.05, **CASES[case])
    parameters = {"w": torch.stack([start(row) for row in range(ROWS)])}
    optimizer = build_optimizer(spec, parameters, [stream(row) for row in range(ROWS)])
    for step in range(steps):
        optimizer.step({"w": slope(optimizer.parameters["w"], step)}, spec.lr)
    for row in range(ROWS):
        x, inner = by_the_equations(spec, row, steps)
        torch.testing.assert_close(optimizer.solution()["w"][row], x, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(optimizer.parameters["w"][row], inner, rtol=1e-12, atol=1e-12)
