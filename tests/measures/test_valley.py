"""The valley along principal directions: a log-quadratic loss in closed form, and small nets."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from solutions import SOME_LAYERS, along, changed, make_solution

from flatlas.measures import curvature, landscape, measure, valley
from flatlas.measures.principal import principal_of


def valley_of(solution, layer="fc2", directions=8, factor=np.e, profiles=()):
    options = {"layer": layer, "directions": directions, "factor": factor, "profiles": profiles}
    return measure("valley", solution, options)


@pytest.mark.parametrize("factor", [1.5, np.e, 10.0])
def test_a_loss_with_a_quadratic_logarithm(monkeypatch, factor):
    """One image, with ln l = |z − t|² / 2 for its logits z = a W: all that is measured is known.

    Along p, ln L = ln L_0 + b θ + M θ² / 2 with M = |a P|² and b = (z − t)·(a P): it grows by ln f
    at (−b ± √(b² + 2 M ln f)) / M; in the middle of the valley, F = √(8 ln f / M).
    """
    target = torch.tensor([0.3, -0.2, 0.1], dtype=torch.float64)

    def quadratic(logits, labels):
        return ((logits - target).square().sum(-1) / 2).exp() / 100

    for module in (landscape, curvature, valley):
        monkeypatch.setattr(module, "sample_losses", quadratic)
    solution = make_solution("one_hidden", images=1, seed=2, layer="fc2")
    a, weight = solution.into("fc2", solution.inputs)[0, 0], solution.parameters["fc2.weight"]
    bent = (a @ principal_of(solution, "fc2", 8).matrices((6, 3))).numpy()
    off = (a @ weight[0] - target).numpy()
    m, b = (bent**2).sum(1), bent @ off
    rows = valley_of(solution, factor=factor, profiles=[3])["directions"]
    root = np.sqrt(b**2 + 2 * m * np.log(factor))
    np.testing.assert_allclose(rows["left"], (-b - root) / m, rtol=1e-6)
    np.testing.assert_allclose(rows["right"], (-b + root) / m, rtol=1e-6)
    np.testing.assert_allclose(rows["flatness"], 2 * root / m, rtol=1e-6)
    np.testing.assert_allclose(rows["slope"], b, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(rows["curvature"], m, rtol=1e-6)
    assert rows["converged"].all()

    centre = weight + torch.outer(a, target - a @ weight[0]) / a.square().sum()
    tables = valley_of(changed(solution, fc2=centre), factor=factor, profiles=[5])
    rows, profile = tables["directions"], tables["profiles"]
    np.testing.assert_allclose(rows["flatness"], np.sqrt(8 * np.log(factor) / m), rtol=1e-6)
    np.testing.assert_allclose(rows["slope"], 0, atol=1e-9)
    np.testing.assert_allclose(profile["quadratic"], profile["loss"], rtol=1e-5)


@pytest.mark.parametrize(("net", "layer", "outputs"), SOME_LAYERS)
def test_the_valley_of_a_net(net, layer, outputs):
    """Ends, slope, parabola and profile against forward passes of the changed net."""
    solution = make_solution(net, outputs, layer=layer)
    tables = valley_of(solution, layer, directions=6, profiles=[4, 1])
    rows = tables["directions"]
    found = principal_of(solution, layer, 6)
    losses, weight = along(solution, layer)

    def loss_at(rank, steps):
        direction = found.directions[rank - 1]
        return np.array([losses(weight + step * direction).mean().item() for step in steps])

    origin = losses(weight).mean().item()
    for row in rows.itertuples():
        assert row.left < 0 < row.right
        assert row.flatness == row.right - row.left
        at = [row.left, row.left / 2, -1e-6, 1e-6, row.right / 2, row.right]
        logs = np.log(loss_at(row.rank, at) / origin)
        np.testing.assert_allclose([logs[0], logs[-1]], 1, atol=1e-8)
        assert row.slope == pytest.approx((logs[3] - logs[2]) / 2e-6, abs=1e-5)
        parabola = np.polyfit([at[1], 0, at[4]], [logs[1], 0, logs[4]], 2)
        assert row.curvature == pytest.approx(2 * parabola[0], rel=1e-6)
    np.testing.assert_array_equal(rows["variance"], found.variances)
    assert tables["profiles"]["rank"].unique().tolist() == [4, 1]
    for rank, points in tables["profiles"].groupby("rank"):
        width = rows["flatness"][rank - 1]
        np.testing.assert_allclose(points["delta"], width * np.linspace(-1, 1, 81), atol=1e-12)
        np.testing.assert_allclose(points["loss"], loss_at(rank, points["delta"]), rtol=1e-9)
        middle = points[points["delta"] == 0]
        np.testing.assert_allclose(middle[["loss", "quadratic"]], origin, rtol=1e-12)


def test_a_direction_in_which_nothing_changes_has_no_valley():
    """Only the weights after a silent neuron have moved; no profiles make a table without rows."""
    solution = make_solution("two_hidden")
    solution.parameters["fc1.weight"][:, :, 4] = 0.0
    moving = np.zeros((60, 9, 6), dtype=np.float32)
    moving[:, 4] = np.random.default_rng(0).normal(size=(60, 6))
    tables = valley_of(replace(solution, trajectory=moving.reshape(60, -1)), directions=6)
    rows = tables["directions"]
    assert rows[["flatness", "curvature", "residual"]].isna().all(axis=None)
    assert not rows["converged"].any()
    np.testing.assert_allclose(rows["slope"], 0, atol=1e-12)
    assert len(tables["profiles"]) == 0
