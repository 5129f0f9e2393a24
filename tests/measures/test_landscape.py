"""Where the loss along a direction reaches a level: closed forms, and a scan of a small net."""

import numpy as np
import pytest
import torch

from flatlas.measures import landscape
from flatlas.measures.landscape import TOLERANCE, ends, interval, loss_along
from flatlas.nets.loss import sample_losses

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
        # The nearer the level is to the origin, the less of a step it takes to be off it.
        near = TOLERANCE * factor / (factor - 1)
        torch.testing.assert_close(found.at, expected, rtol=near, atol=0)
        assert found.converged.all()
        level = loss(torch.arange(4), found.at) / (factor * origin)
        torch.testing.assert_close(found.residual, (level - 1).abs(), rtol=0, atol=1e-14)
        assert (found.residual <= TOLERANCE).all()


def test_an_exponential_loss_takes_few_steps():
    """2 cosh θ = 2 e at arcosh e; evaluations are counted ray by ray."""
    seen = []

    def loss(rays, steps):
        seen.extend(rays.tolist())
        return 2 * torch.tensor([1.0, 50.0])[rays].double().mul(steps).cosh()

    found = ends(loss, 2.0, np.e, tensor(1.5, 0.04), bound=1e3)
    torch.testing.assert_close(
        found.at, tensor(1.0, 0.02) * np.arccosh(np.e), rtol=TOLERANCE, atol=0
    )
    assert found.iterations.tolist() == [seen.count(0), seen.count(1)]
    assert found.iterations.max() <= 8


@pytest.mark.parametrize("sharpness", [1.0, 1e3, 1e5])
def test_a_loss_with_a_kink(sharpness):
    """A wall after a plateau, as ReLUs make them, where no parabola fits."""

    def loss(rays, steps):
        return 1 + sharpness * (steps - 5).relu()

    found = ends(loss, 1.0, FACTOR, tensor(1e-2, 7.0, 1e6), bound=1e8)
    torch.testing.assert_close(found.at, torch.full((3,), 5 + 1 / sharpness).double())
    assert found.converged.all()


def test_an_end_too_sharp_for_float64_is_given_as_not_converged():
    """Two neighbouring numbers above 5 are 9e-16 apart, and the loss there is 9e-4 apart."""

    def loss(rays, steps):
        return 1 + 1e12 * (steps - 5).relu()

    found = ends(loss, 1.0, FACTOR, tensor(3.0), bound=1e8)
    assert found.at.item() == pytest.approx(5 + 1e-12, rel=1e-15)
    assert not found.converged
    assert 1e-9 < found.residual.item() < 1e-2


def test_the_first_of_several_ends_is_taken():
    """Beyond a hill the loss is low again."""

    def loss(rays, steps):
        return 1 + 2 * (-((steps - 4) ** 2)).exp()

    found = ends(loss, 1.0, FACTOR, tensor(0.1, 1.0, 4.0), bound=1e3)
    torch.testing.assert_close(found.at, torch.full((3,), 4 - np.sqrt(np.log(2))).double())


def test_an_end_that_does_not_exist():
    """One ray is flat, one falls, one levels off below, one ends beyond the bound, one ends."""

    def loss(rays, steps):
        forms = [torch.ones_like(steps), (-steps).exp(), 1.9 - 0.9 * (-steps).exp()]
        forms += [1 + steps / 100, 1 + steps / 99]
        return torch.stack(forms)[rays, torch.arange(len(rays))]

    found = ends(loss, 1.0, FACTOR, torch.full((5,), 3.0).double(), bound=99.5)
    assert found.at.isnan().tolist() == [True] * 4 + [False]
    assert found.converged.tolist() == [False] * 4 + [True]
    assert found.residual.isnan().tolist() == found.at.isnan().tolist()


def losses_on(solution, layer, direction, steps):
    """The mean training losses at W + θ E, by forward passes of a stack with a member a step."""
    count, name = len(steps), f"{layer}.weight"
    stack = {key: value.repeat_interleave(count, 0) for key, value in solution.parameters.items()}
    stack[name] = stack[name] + steps.view(-1, *[1] * direction.ndim) * direction
    logits = solution.net.forward(stack, solution.inputs.expand(count, -1, -1, -1, -1))
    return sample_losses(logits, solution.labels.expand(count, -1)).mean(1)


def random_directions(solution, layer, count=5):
    shape = solution.parameters[f"{layer}.weight"].shape[1:]
    generator = torch.Generator().manual_seed(1)
    directions = torch.randn(count, *shape, generator=generator, dtype=torch.float64)
    return directions / directions.flatten(1).norm(dim=1).view(-1, *[1] * len(shape))


CASES = [
    ("one_hidden", "fc1", 3),
    ("two_hidden", "fc2", 1),
    ("biases", "fc3", 3),
    ("deep", "fc2", 3),
    ("convolutional", "fc1", 1),
    ("two_convolutions", "conv1", 3),
    ("global_pool", "conv2", 3),
]


@pytest.mark.parametrize(("net", "layer", "outputs"), CASES)
def test_the_ends_of_a_net_are_the_first_that_a_scan_meets(make_solution, net, layer, outputs):
    solution = make_solution(net, outputs)
    directions = random_directions(solution, layer)
    activity = solution.into(layer, solution.inputs)
    sides = interval(solution, layer, activity, directions, FACTOR)
    for side, found in zip((-1, 1), sides, strict=True):
        assert found.converged.all()
        assert (side * found.at > 0).all()
        for direction, end in zip(directions, found.at, strict=True):
            scan = losses_on(solution, layer, direction, end * torch.linspace(0, 1, 1001).double())
            level = FACTOR * scan[0]
            assert (scan[:-1] < level).all()
            assert scan[-1].item() == pytest.approx(level.item(), rel=2 * TOLERANCE)


def test_blocks_of_directions_and_images_change_nothing(make_solution, monkeypatch):
    solution = make_solution("biases")
    directions = random_directions(solution, "fc2", 7)
    activity = solution.into("fc2", solution.inputs)
    arguments = (solution, "fc2", activity, directions, FACTOR)
    whole = interval(*arguments)
    monkeypatch.setattr(landscape, "NUMBERS", 3 * 40 * 5)
    monkeypatch.setattr(landscape, "CACHED", 9 * 5)
    for found, expected in zip(interval(*arguments), whole, strict=True):
        torch.testing.assert_close(found.at, expected.at, rtol=1e-8, atol=0)


def test_the_loss_along_a_direction_is_that_of_the_changed_net(make_solution):
    solution = make_solution("deep")
    directions = random_directions(solution, "fc3")
    loss = loss_along(solution, "fc3", solution.into("fc3", solution.inputs), directions)
    which, steps = torch.tensor([4, 0, 4]), tensor(0.5, -2.0, 30.0)
    expected = [
        losses_on(solution, "fc3", directions[n], steps[[k]]) for k, n in enumerate(which.tolist())
    ]
    torch.testing.assert_close(loss(which, steps), torch.cat(expected), rtol=1e-12, atol=0)
