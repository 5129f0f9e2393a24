"""Margins along the first principal direction, against nets with moved weights."""

import numpy as np
import pytest
from solutions import changed, losses_of, make_solution, one_ended

from flatlas.measures import measure
from flatlas.measures.principal import principal_of


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
