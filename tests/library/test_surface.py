"""Lines and planes of the loss: a parabola, filters, and what a path is projected on."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from seven_models import seven
from torch import nn

import flatlas

SEVEN = seven()


@pytest.fixture(scope="module")
def parabola():
    """A linear model with squared errors, whose loss is a parabola; at its minimum."""
    torch.manual_seed(0)
    x, y = torch.randn(30, 4, dtype=torch.float64), torch.randn(30, 2, dtype=torch.float64)
    model = nn.Linear(4, 2, bias=False).double()
    solved = torch.linalg.lstsq(x, y).solution
    with torch.no_grad():
        model.weight.copy_(solved.T)
    # Squared errors are divided by all 60 outputs; both outputs have the same curvature.
    hessian = torch.block_diag(x.T @ x, x.T @ x).numpy() / 30
    lowest = (x @ solved - y).square().mean().item()
    return model, (x, y), hessian, lowest


@pytest.mark.parametrize("directions", ["random", "hessian"])
@pytest.mark.parametrize("dimensions", [1, 2])
def test_a_parabola_is_found_again(parabola, directions, dimensions):
    model, data, hessian, lowest = parabola
    found = flatlas.surface(
        model, data, directions, dimensions=dimensions, points=5, reach=2.0, loss="mse"
    )
    assert found.loss.shape == (5,) * dimensions
    steps = found.table[[f"step_{n + 1}" for n in range(dimensions)]].to_numpy()
    moved = steps @ found.directions
    expected = lowest + np.einsum("pi,ij,pj->p", moved, hessian, moved) / 2
    np.testing.assert_allclose(found.table.loss, expected, rtol=1e-10)
    np.testing.assert_allclose(found.loss, np.flip(found.loss), rtol=1e-10)
    assert found.loss.ravel()[found.loss.size // 2] == pytest.approx(lowest, rel=1e-12)


def test_eigenvectors_curve_as_their_eigenvalues(parabola):
    model, data, hessian, lowest = parabola
    found = flatlas.surface(model, data, "hessian", dimensions=1, points=3, reach=1.0, loss="mse")
    largest = np.linalg.eigvalsh(hessian)[-1]
    size = model.weight.norm().item()
    assert np.linalg.norm(found.directions) == pytest.approx(size)
    assert found.loss[2] - lowest == pytest.approx(largest * size**2 / 2, rel=1e-5)
    assert found.converged
    assert (found.residuals < 1e-3 * largest).all()


def test_filters_of_random_directions_are_as_long_as_those_of_the_model():
    model, data, loss, _ = SEVEN["ResNet with batch norm"]
    found = flatlas.surface(model, data, points=3, loss=loss)
    at = 0
    for parameter in model.parameters():
        parts = found.directions[:, at : at + parameter.numel()]
        at += parameter.numel()
        if parameter.ndim == 1:
            assert not parts.any()
            continue
        lengths = np.linalg.norm(parts.reshape(2, len(parameter), -1), axis=2)
        own = parameter.detach().flatten(1).norm(dim=1).numpy()
        np.testing.assert_allclose(lengths, np.stack([own, own]), rtol=1e-6)


def test_the_plane_of_a_trajectory_has_the_path_on_it(parabola):
    """Points in a known plane: a half circle and its diameter's other end."""
    model, data, _, _ = parabola
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 2)))[0].T
    angles = np.linspace(0, np.pi, 7)
    circle = np.stack([3 * np.cos(angles), np.sin(angles)], 1)
    start = model.weight.detach()
    checkpoints = [
        {"weight": start + torch.as_tensor(point @ basis).view(2, 4)} for point in circle
    ]
    found = flatlas.surface(model, data, checkpoints, points=4, loss="mse")
    np.testing.assert_allclose(np.abs(found.directions @ basis.T), np.eye(2), atol=1e-10)
    np.testing.assert_allclose(np.abs(found.path), np.abs(circle), atol=1e-10)
    assert (found.path[0] >= -1e-12).all()
    spread = circle.var(0)
    np.testing.assert_allclose(found.shares, spread / spread.sum(), rtol=1e-10)
    for number, axis in enumerate(found.steps):
        assert axis[0] < found.path[:, number].min() < found.path[:, number].max() < axis[-1]
    # Models do as well as their state dictionaries, and a line as well as a plane.
    models = [deepcopy(model) for _ in checkpoints]
    for one, state in zip(models, checkpoints, strict=True):
        one.load_state_dict(state)
    line = flatlas.surface(model, data, models, dimensions=1, points=4, loss="mse")
    np.testing.assert_allclose(line.path, found.path[:, :1], atol=1e-12)


def test_the_plane_of_a_path_on_a_line_has_a_width(parabola):
    """Across the line there is only round-off."""
    model, data, _, _ = parabola
    start, step = model.weight.detach(), torch.randn(2, 4, dtype=torch.float64)
    line = [{"weight": start + place * step} for place in (-1.0, 0.0, 0.5, 2.0)]
    found = flatlas.surface(model, data, line, points=3, loss="mse")
    reach = 0.2 * 3 * step.norm().item()
    np.testing.assert_allclose(found.steps[1], [-reach, 0, reach], atol=1e-9)


@pytest.mark.parametrize("kind", SEVEN)
def test_any_model_has_a_surface_and_keeps_its_weights(kind):
    model, data, loss, parameters = SEVEN[kind]
    before = deepcopy(model.state_dict())
    found = flatlas.surface(model, data, dimensions=1, points=3, loss=loss, parameters=parameters)
    taken = flatlas.surface(model, data, dimensions=1, points=3, loss=loss, parameters=parameters)
    assert np.isfinite(found.loss).all()
    assert len(set(found.loss)) == 3
    np.testing.assert_array_equal(taken.loss, found.loss)
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)


def test_whole_numbers_may_be_of_another_type(parabola):
    model, data, _, _ = parabola
    found, expected = (
        flatlas.surface(model, data, loss="mse", dimensions=one, points=points)
        for one, points in ((True, 5.0), (1, 5))
    )
    assert found.table.equals(expected.table)


def test_what_has_no_surface_is_refused(parabola):
    model, data, _, _ = parabola
    state = model.state_dict()
    for directions, options, said in (
        ("randm", {}, "Did you mean 'random'"),
        ("random", {"points": 1}, "points is 1"),
        ("random", {"dimensions": 3}, "dimensions is 3"),
        ([state, state], {}, "at least 3"),
        ([state] * 3, {}, "does not move"),
        ([state, {"w": state["weight"]}], {}, "point 1 of the trajectory has no 'weight'"),
        ([state, 3], {}, "point 1"),
        ([state, state, {"weight": state["weight"] / 0}], {}, "'weight' has NaN.*point 2"),
        (model, {}, "a list of models"),
        (state, {}, "a list of models"),
    ):
        with pytest.raises(flatlas.FlatlasError, match=said):
            flatlas.surface(model, data, directions, loss="mse", **options)
    zero = deepcopy(model)
    nn.init.zeros_(zero.weight)
    for directions in ("random", "hessian"):
        with pytest.raises(flatlas.FlatlasError, match="all 0"):
            flatlas.surface(zero, data, directions, loss="mse")
    mlp, batches, loss, _ = SEVEN["MLP with dropout"]
    with pytest.raises(flatlas.FlatlasError, match=r"0\.bias, 3\.bias have no filters"):
        flatlas.surface(mlp, batches, loss=loss, parameters="*.bias")


class Needle(nn.Linear):
    """Finite at its own weights alone."""

    def forward(self, x):
        moved = (self.weight - 1).any()
        return super().forward(x).masked_fill(moved, torch.inf)


def test_a_surface_without_a_finite_loss_is_refused():
    model, data = Needle(2, 2), (torch.ones(4, 2), torch.arange(4) % 2)
    nn.init.ones_(model.weight)
    for dimensions in (1, 2):
        with pytest.raises(flatlas.FlatlasError, match="points of the surface has a finite loss"):
            flatlas.surface(model, data, dimensions=dimensions, points=4)
        found = flatlas.surface(model, data, dimensions=dimensions, points=3)
        assert np.isfinite(found.loss).sum() == 1
        found.plot()


@pytest.mark.parametrize("shift", [0.0, 1.0, -1e30, 1e30, 1e-30])
def test_a_flat_surface_is_drawn(shift):
    """The loss varies only in its last bits."""
    few = {"dimensions": 2, "points": 3, "loss": lambda output, _: 0 * output.sum() + shift}
    found = flatlas.surface(nn.Linear(2, 2), (torch.ones(4, 2), torch.ones(4)), **few)
    assert (found.loss == shift).all()
    found.plot()
    found.loss[0, 0] *= 1 + 1e-15
    found.plot()
