"""The valley along directions, by forward passes of changed nets."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from solutions import (
    SOME_LAYERS,
    along,
    changed,
    layer_hessian,
    losses_of,
    make_solution,
    one_ended,
)

from flatlas.measures import measure
from flatlas.measures.landscape import TOLERANCE
from flatlas.measures.principal import principal_of


def valley_of(solution, layer="fc2", directions=8, factor=np.e, profiles=()):
    options = {"layer": layer, "directions": directions, "factor": factor, "profiles": profiles}
    return measure("valley", solution, options)


@pytest.mark.parametrize(("net", "layer", "outputs"), SOME_LAYERS)
def test_the_valley_of_a_net(net, layer, outputs):
    """Ends, slope, parabola and profile against forward passes of the changed net."""
    solution, factor = make_solution(net, outputs, layer=layer), 2.0
    tables = valley_of(solution, layer, directions=6, factor=factor, profiles=[4, 1])
    rows, parabolas = tables["directions"], {}
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
        np.testing.assert_allclose([logs[0], logs[-1]], np.log(factor), atol=2 * TOLERANCE)
        assert row.slope == pytest.approx((logs[3] - logs[2]) / 2e-6, abs=1e-5)
        parabolas[row.rank] = np.polyfit([at[1], 0, at[4]], [logs[1], 0, logs[4]], 2)
        assert row.curvature == pytest.approx(2 * parabolas[row.rank][0], rel=1e-6)
    assert rows["converged"].all()
    np.testing.assert_array_equal(rows["variance"], found.variances)
    assert tables["profiles"]["rank"].unique().tolist() == [4, 1]
    for rank, points in tables["profiles"].groupby("rank"):
        width = rows["flatness"][rank - 1]
        np.testing.assert_allclose(points["delta"], width * np.linspace(-1, 1, 81), atol=1e-12)
        np.testing.assert_allclose(points["loss"], loss_at(rank, points["delta"]), rtol=1e-9)
        logs = np.polyval(parabolas[rank], points["delta"])
        np.testing.assert_allclose(points["quadratic"], origin * np.exp(logs), rtol=1e-6)


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


def margins(solution, layer="fc2"):
    return measure("first_mode", solution, {"layer": layer, "images": 2})["margins"]


def moved(solution, layer, theta):
    """The solution with the weights of a layer moved by θ p_1."""
    weights = solution.parameters[f"{layer}.weight"]
    step = principal_of(solution, layer, 1).directions[0].reshape(weights.shape)
    return changed(solution, **{layer: weights + theta * step})


@pytest.mark.parametrize(
    ("net", "layer"),
    [("two_hidden", "fc2"), ("two_hidden", "fc3"), ("deep", "fc3"), ("convolutional", "fc2")],
)
def test_margins_are_those_of_nets_with_moved_weights(net, layer):
    """The mean margin of the first two images of each class, image by image."""
    solution = make_solution(net, layer=layer)
    rows = margins(solution, layer)
    assert sorted(rows["label"].unique()) == [0, 1, 2]
    labels = solution.labels[0].tolist()
    for row in rows.iloc[::17].itertuples():
        there = moved(solution, layer, row.theta)
        logits = there.net.forward(there.parameters, there.inputs)[0].tolist()
        mine = [image for image, label in enumerate(labels) if label == row.label][:2]
        expected = [
            logits[image][row.label] - max(v for k, v in enumerate(logits[image]) if k != row.label)
            for image in mine
        ]
        assert row.margin == pytest.approx(np.mean(expected), rel=1e-9)


def test_a_missing_end_of_the_valley_is_as_far_as_the_other_one():
    solution = one_ended()
    rows = margins(solution)
    at = rows[rows["label"] == solution.labels[0, 0].item()]["theta"].to_numpy()
    assert at[0] == pytest.approx(-at[-1]) and at[0] < 0
    assert np.isfinite(rows["margin"]).all()


def test_the_steps_go_from_one_end_of_the_valley_to_the_other():
    solution = make_solution("two_hidden", layer="fc2")
    rows = margins(solution)
    at = rows[rows["label"] == 1]["theta"].to_numpy()
    assert at[0] < 0 < at[-1]
    np.testing.assert_allclose(np.diff(at), np.diff(at)[0], rtol=1e-9)
    losses = [losses_of(moved(solution, "fc2", theta)).mean().item() for theta in at[[0, -1]]]
    np.testing.assert_allclose(losses, np.e * losses_of(solution).mean().item(), rtol=1e-6)


def flatness(solution, factor=2.0, directions="hessian"):
    options = {"layer": "fc2", "directions": directions, "factor": factor}
    return measure("flatness", solution, options)["directions"]


@pytest.mark.parametrize("factor", [1.5, 2.0])
def test_the_loss_has_grown_by_the_factor_at_both_ends(factor):
    solution = make_solution("two_hidden", images=100, seed=3)
    rows = flatness(solution, factor)
    losses, weight = along(solution, "fc2")
    vectors = torch.linalg.eigh(layer_hessian(solution, "fc2"))[1].T
    vectors = vectors[(rows["eigenvalue"].rank().astype(int) - 1).to_list()]
    level = factor * losses(weight).mean().item()
    ends = torch.as_tensor(rows[["left", "right"]].to_numpy(copy=True))
    for steps, vector in zip(ends, vectors, strict=True):
        # Which of the two ends is the left one is the arbitrary sign of the eigenvector.
        off = [
            max(
                abs(losses(weight + sign * step * vector).mean().item() / level - 1)
                for step in steps
            )
            for sign in (-1, 1)
        ]
        assert min(off) < 1e-6
    assert rows["converged"].all()
    assert (rows["residual"] <= TOLERANCE).all()
    assert (rows["left"] < 0).all() and (rows["right"] > 0).all()
    np.testing.assert_array_equal(rows["flatness"], rows["right"] - rows["left"])


@pytest.mark.parametrize("directions", ["hessian", "fisher"])
def test_directions_are_those_of_the_duality(directions):
    solution = make_solution("two_hidden", images=100)
    rows = flatness(solution, directions=directions)
    options = {"layer": "fc2", "directions": directions, "sharp": "steepest"}
    expected = measure("duality", solution, options)["directions"]
    shared = ["n", "eigenvalue", "sigma_g"]
    np.testing.assert_array_equal(rows[shared], expected[shared])


def test_weights_after_a_silent_neuron_have_no_flatness():
    """The loss does not change along its six weights."""
    solution = make_solution("two_hidden", images=100)
    solution.parameters["fc1.weight"][:, :, 4] = 0.0
    rows = flatness(solution)
    nowhere = rows["sigma_g"] < 1e-12
    assert nowhere.sum() == 6
    assert rows["flatness"].isna().tolist() == nowhere.tolist()
    assert rows["converged"].tolist() == (~nowhere).tolist()
