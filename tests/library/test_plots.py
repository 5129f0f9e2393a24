"""What pictures show: every number, the line 2/η, the path; and what they leave alone."""

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib import pyplot
from torch import nn

import flatlas
from flatlas.library.found import Found, Quantity

X, Y = torch.randn(12, 3, generator=torch.Generator().manual_seed(0)), torch.arange(12) % 2
MODEL = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


@pytest.fixture(autouse=True)
def closed():
    """No setting is changed, and no figure of a test stays open."""
    before = dict(matplotlib.rcParams), matplotlib.get_backend()
    yield
    assert (dict(matplotlib.rcParams), matplotlib.get_backend()) == before
    pyplot.close("all")


def points_of(ax):
    return np.concatenate([line.get_xydata() for line in ax.get_lines()])


def test_found_has_a_panel_for_each_measure_with_all_its_numbers():
    measures = {
        "hessian": {"top": 2, "probes": 2},
        "spectral_density": {"top": 2, "probes": 2, "steps": 5},
    }
    found = flatlas.measure(MODEL, (X, Y), measures)
    figure = found.plot()
    numbers, density = figure.axes
    values = found.table.value[found.table.measure == "hessian"]
    assert set(values) <= set(points_of(numbers)[:, 0])
    np.testing.assert_array_equal(density.lines[0].get_ydata(), found["spectral_density"].density)
    figure.canvas.draw()


class Numbers:
    def __init__(self, *values):
        self.values = values

    def quantities(self):
        return {f"number_{n}": Quantity(value) for n, value in enumerate(self.values)}


def test_numbers_that_are_0_or_infinite_are_no_obstacle():
    odd = Numbers(0.0, float("nan"), float("inf"), -3.0)
    figure = Found({"odd": odd, "none": Numbers(0.0)}, {"odd": 0.0, "none": 0.0}).plot()
    assert {0, -3} <= set(points_of(figure.axes[0])[:, 0])
    figure.canvas.draw()


def test_what_is_no_number_has_not_converged():
    table = Found({"odd": Numbers(0.0, float("nan"), float("inf"))}, {"odd": 0.0}).table
    assert table.converged.tolist() == [True, False, True]


def test_the_tracker_draws_its_numbers_beside_2_over_the_learning_rate():
    tracker = flatlas.Tracker(MODEL, (X, Y), {"hessian": {"top": 2, "probes": 2}}, every=5)
    with pytest.raises(flatlas.FlatlasError, match="nothing has been measured"):
        tracker.plot()
    for step in (0, 5, 10):
        tracker(step)
    figure = tracker.plot(learning_rate=0.5)
    eigenvalues, *others = figure.axes
    assert len(others) == 3
    drawn = points_of(eigenvalues)
    table = tracker.table
    ranked = table[table.quantity.str.startswith("eigenvalue")]
    for step, value in zip(ranked.step, ranked.value, strict=True):
        assert (drawn == [step, value]).all(1).any()
    assert (drawn[:, 1] == 4).sum() == 2
    assert all((points_of(ax)[:, 1] != 4).all() for ax in others)
    figure.canvas.draw()
    with pytest.raises(flatlas.FlatlasError, match="learning_rate is 0"):
        tracker.plot(learning_rate=0)
    without = flatlas.Tracker(MODEL, (X, Y), {"gauss_newton": {"top": 1, "probes": 2}})
    without(0)
    with pytest.raises(flatlas.FlatlasError, match="'hessian' is not tracked: gauss_newton"):
        without.plot(learning_rate=0.5)


@pytest.mark.parametrize("dimensions", [1, 2])
def test_a_surface_shows_the_path(dimensions):
    random = torch.Generator().manual_seed(0)
    trajectory = [
        {name: p + torch.randn(p.shape, generator=random) for name, p in MODEL.named_parameters()}
        for _ in range(4)
    ]
    found = flatlas.surface(MODEL, (X, Y), trajectory, dimensions=dimensions, points=5)
    figure = found.plot()
    drawn = points_of(figure.axes[0])
    for place in found.path:
        assert (drawn[:, :dimensions] == place).all(1).any()
    figure.canvas.draw()


def test_a_surface_that_overflows_is_drawn_where_it_is_finite():
    deep = nn.Sequential(*(nn.Linear(3, 3) for _ in range(12)))
    found = flatlas.surface(deep, (X, Y), points=3, reach=1e30)
    assert not np.isfinite(found.loss).all()
    found.plot().canvas.draw()


def test_invariance_draws_each_copy():
    found = flatlas.invariance(MODEL, (X, Y), {"hessian": {"top": 1, "probes": 2}}, draws=2)
    figure = found.plot()
    drawn = points_of(figure.axes[0])
    for taken in found.rescaled:
        for place, value in enumerate(taken.table.value / found.table.value):
            assert (drawn == [value, place]).all(1).any()
    figure.canvas.draw()


def test_without_matplotlib_a_sentence_says_so(python):
    code = """
import sys
sys.modules["matplotlib"] = None
import torch, flatlas
data = torch.ones(4, 3), torch.arange(4) % 2
found = flatlas.measure(torch.nn.Linear(3, 2), data, {"hessian": {"top": 1, "probes": 2}})
try:
    found.plot()
except flatlas.FlatlasError as error:
    print(error)
"""
    assert "pip install matplotlib" in python(code)


def test_the_density_of_a_loss_without_curvature_is_drawn():
    measures = {"spectral_density": {"top": 2, "probes": 2, "steps": 5}}
    found = flatlas.measure(nn.Linear(3, 1), (X, Y), measures, loss=lambda made, _: made.mean())
    found.plot().canvas.draw()
