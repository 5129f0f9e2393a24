"""The steps at which the loss along a direction reaches a level: closed forms, and scans."""

import numpy as np
import pytest
import torch
from solutions import SOME_LAYERS, along, make_solution

from flatlas.measures import landscape
from flatlas.measures.landscape import TOLERANCE, ends, interval, loss_along

FACTOR = 2.0


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("factor", [1.001, 2.0, 2.718281828, 50.0])
@pytest.mark.parametrize("wrong", [1e-3, 1.0, 1e3])
def test_a_quadratic_loss(factor, wrong):
    """L₀ + bθ + cθ²/2 grows by the factor at (±√(b² + 2c (factor − 1) L₀) − b) / c."""
    origin, b, c = 0.3, tensor(0.2, -0.1, 0.0, 3.0), tensor(1.0, 1e-4, 7.0, 1e3)
    root = (b**2 + 2 * c * (factor - 1) * origin).sqrt()

    def loss(rays, steps):
        return origin + b[rays] * steps + c[rays] * steps**2 / 2

    for side in (-1, 1):
        expected = (side * root - b) / c
        found = ends(loss, origin, factor, wrong * expected, bound=1e9)
        # If the level is close to the loss at the origin, a smaller step misses it.
        near = TOLERANCE * factor / (factor - 1)
        torch.testing.assert_close(found.at, expected, rtol=near, atol=0)
        assert found.converged.all()
        level = loss(torch.arange(4), found.at) / (factor * origin)
        torch.testing.assert_close(found.residual, (level - 1).abs(), rtol=0, atol=1e-14)
        assert (found.residual <= TOLERANCE).all()


def test_an_exponential_loss_takes_few_steps():
    """2 cosh θ = 2 e at arcosh e; evaluations are counted for each ray."""
    seen = []

    def loss(rays, steps):
        seen.extend(rays.tolist())
        return 2 * torch.tensor([1.0, 50.0])[rays].double().mul(steps).cosh()

    found = ends(loss, 2.0, np.e, tensor(1.5, 0.04), bound=1e3)
    expected = tensor(1.0, 0.02) * np.arccosh(np.e)
    torch.testing.assert_close(found.at, expected, rtol=TOLERANCE, atol=0)
    assert found.iterations.tolist() == [seen.count(0), seen.count(1)]
    assert found.iterations.max() <= 8


@pytest.mark.parametrize(
    ("loss", "guesses", "expected"),
    [
        # A wall after a plateau, as ReLUs make them, where no parabola fits.
        (lambda _, steps: 1 + (steps - 5).relu(), (1e-2, 7.0, 1e6), 6.0),
        (lambda _, steps: 1 + 1e3 * (steps - 5).relu(), (1e-2, 7.0, 1e6), 5.001),
        (lambda _, steps: 1 + 1e5 * (steps - 5).relu(), (1e-2, 7.0, 1e6), 5.00001),
        # Beyond a hill the loss is low again: the first end counts.
        (
            lambda _, steps: 1 + 2 * (-((steps - 4) ** 2)).exp(),
            (0.1, 1.0, 4.0),
            4 - np.log(2) ** 0.5,
        ),
    ],
    ids=["gentle wall", "steep wall", "steeper wall", "hill"],
)
def test_a_loss_without_a_parabola(loss, guesses, expected):
    found = ends(loss, 1.0, FACTOR, tensor(*guesses), bound=1e8)
    torch.testing.assert_close(found.at, torch.full((3,), expected).double())
    assert found.converged.all()


def test_an_end_too_sharp_for_float64_has_not_converged():
    """Two neighbouring numbers above 5 are 9e-16 apart, and their losses 9e-4."""
    found = ends(
        lambda _, steps: 1 + 1e12 * (steps - 5).relu(), 1.0, FACTOR, tensor(3.0), bound=1e8
    )
    assert found.at.item() == pytest.approx(5 + 1e-12, rel=1e-15)
    assert not found.converged
    assert 1e-9 < found.residual.item() < 1e-2


def test_a_missing_end_is_nan():
    """One ray is flat, one falls, one levels off below, one ends beyond the bound, one ends."""

    def loss(rays, steps):
        forms = [torch.ones_like(steps), (-steps).exp(), 1.9 - 0.9 * (-steps).exp()]
        forms += [1 + steps / 100, 1 + steps / 99]
        return torch.stack(forms)[rays, torch.arange(len(rays))]

    found = ends(loss, 1.0, FACTOR, torch.full((5,), 3.0).double(), bound=99.5)
    assert found.at.isnan().tolist() == found.residual.isnan().tolist() == [True] * 4 + [False]
    assert found.converged.tolist() == [False] * 4 + [True]


def random_directions(solution, layer, count=5):
    shape = solution.parameters[f"{layer}.weight"].shape[1:]
    generator = torch.Generator().manual_seed(1)
    directions = torch.randn(count, *shape, generator=generator, dtype=torch.float64)
    return directions / directions.flatten(1).norm(dim=1).view(-1, *[1] * len(shape))


@pytest.mark.parametrize(("net", "layer", "outputs"), SOME_LAYERS)
def test_the_ends_of_a_net_are_the_first_that_a_scan_meets(net, layer, outputs):
    """The scan makes forward passes of the changed net; they also give the loss on the way."""
    solution = make_solution(net, outputs)
    directions = random_directions(solution, layer)
    activity = solution.into(layer, solution.inputs)
    loss = loss_along(solution, layer, activity, directions)
    losses, weight = along(solution, layer)
    sides = interval(solution, layer, activity, directions, FACTOR)
    for side, found in zip((-1, 1), sides, strict=True):
        assert found.converged.all()
        assert (side * found.at > 0).all()
        for n, (direction, end) in enumerate(zip(directions.flatten(1), found.at, strict=True)):
            steps = end * torch.linspace(0, 1, 201).double()
            scan = torch.vmap(losses)(weight + steps.unsqueeze(1) * direction).mean(1)
            level = FACTOR * scan[0]
            assert (scan[:-1] < level).all()
            assert scan[-1].item() == pytest.approx(level.item(), rel=2 * TOLERANCE)
            some = loss(torch.tensor([n, n]), steps[[50, 150]])
            torch.testing.assert_close(some, scan[[50, 150]], rtol=1e-12, atol=0)


def test_blocks_of_directions_and_images_change_nothing(monkeypatch):
    solution = make_solution("biases")
    activity = solution.into("fc2", solution.inputs)
    arguments = (solution, "fc2", activity, random_directions(solution, "fc2", 7), FACTOR)
    whole = interval(*arguments)
    monkeypatch.setattr(landscape, "NUMBERS", 3 * 40 * 5)
    monkeypatch.setattr(landscape, "CACHED", 9 * 5)
    for found, expected in zip(interval(*arguments), whole, strict=True):
        torch.testing.assert_close(found.at, expected.at, rtol=1e-8, atol=0)
