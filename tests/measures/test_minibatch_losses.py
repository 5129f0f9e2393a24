"""Minima and curvatures of mini loss functions: parabolas in closed form, and small nets."""

import numpy as np
import pytest
import torch
from solutions import along, make_solution

from flatlas.measures import curvature, landscape, measure, minibatch_losses
from flatlas.measures.minibatch_losses import parabolas
from flatlas.measures.principal import principal_of
from flatlas.seeds import generator

GRID = torch.linspace(-4, 4, 81, dtype=torch.float64)


def ensemble(solution, batch=5, profiles=(), layer="fc2"):
    options = {"layer": layer, "directions": 6, "profiles": list(profiles)}
    return measure("minibatch_losses", solution, {**options, "batch": batch, "minibatches": 12})


def minibatches_of(solution, batch=5):
    """The minibatches that the measure draws, image by image."""
    random = generator(solution.seed, "minibatch losses")
    return [random.choice(40, batch, replace=False) for _ in range(12)]


def test_parabolas_are_fitted_exactly():
    """Wide and narrow ones, some narrower than the grid."""
    steps = torch.stack([GRID, GRID / 4])
    at = torch.tensor([[0.33, -1.2, 2.0], [0.05, -0.3, 0.0]], dtype=torch.float64)
    bent = torch.tensor([[1.0, 2.0, 900.0], [1e4, 50.0, 30.0]], dtype=torch.float64)
    logs = 7 + bent[..., None] * (steps[:, None] - at[..., None]).square() / 2
    minimum, found_bent, found = parabolas(steps, logs)
    torch.testing.assert_close(minimum, at, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(found_bent, bent, rtol=1e-9, atol=0)
    assert found.all()


def test_other_valleys_are_fitted_up_to_e_times_their_least():
    """By NumPy, through the points up to 1 above the least."""
    x = GRID
    logs = torch.stack([(x - 1).cosh(), (x + 0.5).abs(), x**4 - x])
    minimum, bent, found = parabolas(x.unsqueeze(0), logs.unsqueeze(0))
    for n, values in enumerate(logs.numpy()):
        low = values <= values.min() + 1
        c, b, _ = np.polyfit(x.numpy()[low], values[low], 2)
        assert minimum[0, n].item() == pytest.approx(-b / (2 * c), abs=1e-9)
        assert bent[0, n].item() == pytest.approx(2 * c, rel=1e-9)
    assert found.all()


def test_a_valley_that_does_not_end_within_reach_is_not_found():
    """Lines, a hill, a plain, and valleys whose minimum or whose one end is beyond the edge."""
    x = GRID
    forms = [x, -x, -x.square(), 0 * x, (x - 5).square(), (x - 3.5).square(), (x - 2).square()]
    _, _, found = parabolas(x.unsqueeze(0), torch.stack(forms).unsqueeze(0))
    assert found.tolist() == [[False] * 6 + [True]]


def test_losses_with_quadratic_logarithms(monkeypatch):
    """One image in a minibatch, ln l_k = |z_k − t_k|² / 2: minima and curvatures are known.

    Along p, with c = a_k P: M_ii = |c|², and the minimum is at −(z_k − t_k)·c / |c|².
    """

    def quadratic(logits, labels):
        targets = torch.stack([labels * 0.3, -labels * 0.2, 0.1 * labels], dim=-1)
        return ((logits - targets).square().sum(-1) / 2).exp() / 100

    for module in (landscape, curvature, minibatch_losses):
        monkeypatch.setattr(module, "sample_losses", quadratic)
    solution = make_solution("one_hidden", layer="fc2")
    # The images are so alike that all their valleys are within reach.
    solution.inputs[:] = solution.inputs[:, :1] + 0.1 * solution.inputs
    rows = ensemble(solution, batch=1)["directions"]
    chosen = np.concatenate(minibatches_of(solution, batch=1))
    a = solution.into("fc2", solution.inputs)[0, chosen].numpy()
    labels = solution.labels[0, chosen].numpy()[:, None]
    off = a @ solution.parameters["fc2.weight"][0].numpy() - labels * [0.3, -0.2, 0.1]
    for n, direction in enumerate(principal_of(solution, "fc2", 6).matrices((6, 3)).numpy()):
        bent = a @ direction
        m = (bent**2).sum(1)
        minima = -(off * bent).sum(1) / m
        variance = minima.var(ddof=1)
        expected = [1, minima.mean(), variance, m.mean(), m.mean() ** 2 * variance]
        names = ["found", "minimum", "minimum_variance", "curvature", "product"]
        assert rows.loc[n, names].tolist() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("net", "layer", "outputs"), [("deep", "fc3", 3), ("convolutional", "fc1", 1)]
)
def test_profiles_are_the_minibatches_losses(net, layer, outputs):
    """By forward passes of the changed net on the images of each minibatch."""
    solution = make_solution(net, outputs, layer=layer)
    rows = ensemble(solution, profiles=[5, 2], layer=layer)["profiles"]
    directions = principal_of(solution, layer, 6).directions
    losses, weight = along(solution, layer)
    drawn = minibatches_of(solution)
    assert rows["rank"].unique().tolist() == [5, 2]
    assert rows["minibatch"].unique().tolist() == list(range(1, 13))
    for row in rows.iloc[::97].itertuples():
        there = weight + row.delta * directions[row.rank - 1]
        expected = losses(there, drawn[row.minibatch - 1]).mean().item()
        assert row.loss == pytest.approx(expected, rel=1e-9)


def test_minibatches_of_all_images_have_one_minimum():
    rows = ensemble(make_solution("two_hidden", layer="fc2"), batch=40)["directions"]
    found = rows["found"] == 1
    assert found.sum() >= 3
    assert rows["minimum_variance"][found].max() < 1e-20
    assert rows["found"].isin([0, 1]).all()
