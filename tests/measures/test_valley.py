"""The valley along principal directions: a log-quadratic loss in closed form, and small nets."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from recordings import with_recording

from flatlas.measures import curvature, landscape, measure, valley
from flatlas.measures.principal import principal_of
from flatlas.nets.loss import sample_losses


def valley_of(solution, layer="fc2", directions=8, factor=np.e, profiles=()):
    options = {"layer": layer, "directions": directions, "factor": factor, "profiles": profiles}
    return measure("valley", solution, options)


@pytest.mark.parametrize("factor", [1.5, np.e, 10.0])
def test_a_loss_with_a_quadratic_logarithm(make_solution, monkeypatch, factor):
    """One image, with ln l = |z − t|² / 2 for its logits z = a W: all that is measured is known.

    Along p, ln L = ln L_0 + b θ + M θ² / 2 with M = |a P|² and b = (z − t)·(a P): it grows by ln f
    at (−b ± √(b² + 2 M ln f)) / M; in the middle of the valley, F = √(8 ln f / M).
    """
    target = torch.tensor([0.3, -0.2, 0.1], dtype=torch.float64)

    def quadratic(logits, labels):
        return ((logits - target).square().sum(-1) / 2).exp() / 100

    for module in (landscape, curvature, valley):
        monkeypatch.setattr(module, "sample_losses", quadratic)
    solution = with_recording(make_solution("one_hidden", images=1, seed=2), "fc2")
    a = solution.into("fc2", solution.inputs)[0, 0]
    bent = (a @ principal_of(solution, "fc2", 8).matrices((6, 3))).numpy()
    off = (a @ solution.parameters["fc2.weight"][0] - target).numpy()
    m, b = (bent**2).sum(1), bent @ off
    rows = valley_of(solution, factor=factor, profiles=[3])["directions"]
    root = np.sqrt(b**2 + 2 * m * np.log(factor))
    np.testing.assert_allclose(rows["left"], (-b - root) / m, rtol=1e-6)
    np.testing.assert_allclose(rows["right"], (-b + root) / m, rtol=1e-6)
    np.testing.assert_allclose(rows["flatness"], 2 * root / m, rtol=1e-6)
    np.testing.assert_allclose(rows["slope"], b, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(rows["curvature"], m, rtol=1e-6)
    assert rows["converged"].all()

    centred = replace(solution, parameters={**solution.parameters})
    shift = torch.outer(a, target - a @ solution.parameters["fc2.weight"][0]) / a.square().sum()
    centred.parameters["fc2.weight"] = solution.parameters["fc2.weight"] + shift
    tables = valley_of(centred, factor=factor, profiles=[5])
    rows, profile = tables["directions"], tables["profiles"]
    np.testing.assert_allclose(rows["flatness"], np.sqrt(8 * np.log(factor) / m), rtol=1e-6)
    np.testing.assert_allclose(rows["slope"], 0, atol=1e-9)
    np.testing.assert_allclose(profile["quadratic"], profile["loss"], rtol=1e-5)


def loss_at(solution, layer, direction, step):
    """The mean training loss of the changed net, by a forward pass from the images on."""
    name = f"{layer}.weight"
    weight = solution.parameters[name]
    changed = {**solution.parameters, name: weight + step * direction}
    logits = solution.net.forward(changed, solution.inputs)
    return sample_losses(logits, solution.labels).mean().item()


CASES = [
    ("two_hidden", "fc2", 3),
    ("deep", "fc3", 1),
    ("convolutional", "fc1", 3),
    ("two_convolutions", "conv1", 3),
    ("global_pool", "conv2", 1),
]


@pytest.mark.parametrize(("net", "layer", "outputs"), CASES)
def test_the_valley_of_a_net(make_solution, net, layer, outputs):
    """Ends, slope, parabola and profile against forward passes of the changed net."""
    solution = with_recording(make_solution(net, outputs), layer)
    tables = valley_of(solution, layer, directions=6, profiles=[4, 1])
    shape = solution.parameters[f"{layer}.weight"].shape[1:]
    found = principal_of(solution, layer, 6)
    origin = loss_at(solution, layer, 0, 0)
    for direction, (_, row) in zip(
        found.matrices(shape), tables["directions"].iterrows(), strict=True
    ):
        assert row["left"] < 0 < row["right"]
        assert row["flatness"] == row["right"] - row["left"]
        at = [row["left"], row["left"] / 2, -1e-6, 1e-6, row["right"] / 2, row["right"]]
        logs = [np.log(loss_at(solution, layer, direction, x) / origin) for x in at]
        np.testing.assert_allclose([logs[0], logs[-1]], 1, atol=1e-8)
        assert row["slope"] == pytest.approx((logs[3] - logs[2]) / 2e-6, abs=1e-5)
        parabola = np.polyfit([at[1], 0, at[4]], [logs[1], 0, logs[4]], 2)
        assert row["curvature"] == pytest.approx(2 * parabola[0], rel=1e-6)
    np.testing.assert_array_equal(tables["directions"]["variance"], found.variances)
    assert tables["profiles"]["rank"].unique().tolist() == [4, 1]
    for rank, points in tables["profiles"].groupby("rank"):
        direction = found.matrices(shape)[rank - 1]
        width = tables["directions"]["flatness"][rank - 1]
        np.testing.assert_allclose(points["delta"], width * np.linspace(-1, 1, 81), atol=1e-12)
        expected = [loss_at(solution, layer, direction, x) for x in points["delta"]]
        np.testing.assert_allclose(points["loss"], expected, rtol=1e-9)
        middle = points[points["delta"] == 0]
        np.testing.assert_allclose(middle[["loss", "quadratic"]], origin, rtol=1e-12)


def test_a_direction_in_which_nothing_changes_has_no_valley(make_solution):
    """Only the weights out of a silent neuron have moved."""
    solution = make_solution("two_hidden")
    solution.parameters["fc1.weight"][:, :, 4] = 0.0
    moving = np.zeros((60, 9, 6), dtype=np.float32)
    moving[:, 4] = np.random.default_rng(0).normal(size=(60, 6))
    recorded = replace(solution, trajectory=moving.reshape(60, -1))
    rows = valley_of(recorded, directions=6)["directions"]
    assert rows[["flatness", "curvature", "residual"]].isna().all(axis=None)
    assert not rows["converged"].any()
    np.testing.assert_allclose(rows["slope"], 0, atol=1e-12)


def test_no_profiles_is_a_table_without_rows(make_solution):
    tables = valley_of(with_recording(make_solution("two_hidden"), "fc2"))
    assert list(tables["profiles"]) == ["rank", "delta", "loss", "quadratic"]
    assert len(tables["profiles"]) == 0
    assert len(tables["directions"]) == 8
