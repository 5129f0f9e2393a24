"""ΔY along p_1: a linear model in closed form, images one by one, and a net that is not linear."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from recordings import with_recording

from flatlas.measures import measure
from flatlas.measures.first_mode import margins
from flatlas.measures.principal import principal_of

OPTIONS = {"layer": "fc2", "images": 2}


def along(solution, layer, theta):
    """The logits of all images with the weights of a layer moved by θ p_1."""
    name = f"{layer}.weight"
    weights = solution.parameters[name]
    step = principal_of(solution, layer, 1).directions[0].reshape(weights.shape)
    return solution.net.forward(
        {**solution.parameters, name: weights + theta * step}, solution.inputs
    )[0]


@pytest.mark.parametrize(
    ("net", "layer"), [("two_hidden", "fc2"), ("deep", "fc3"), ("convolutional", "fc2")]
)
def test_against_whole_nets_with_moved_weights(make_solution, net, layer):
    """Image by image, without anything that the measure takes apart."""
    solution = with_recording(make_solution(net), layer)
    rows = measure("first_mode", solution, {"layer": layer, "images": 2})["margins"]
    assert sorted(rows["label"].unique()) == [0, 1, 2]
    labels = solution.labels[0].tolist()
    for row in rows.iloc[::17].itertuples():
        logits = along(solution, layer, row.theta).tolist()
        mine = [image for image, label in enumerate(labels) if label == row.label][:2]
        expected = [
            logits[image][row.label] - max(v for k, v in enumerate(logits[image]) if k != row.label)
            for image in mine
        ]
        assert row.margin == pytest.approx(np.mean(expected), rel=1e-9)


def test_where_the_valley_has_one_end_it_goes_as_far_to_the_other_side(make_solution):
    """Larger weights of the last layer make right outputs more right: no end on that side."""
    made = make_solution("one_hidden")
    weight = made.parameters["fc2.weight"]
    right = (made.into("fc2", made.inputs) @ weight).argmax(-1)
    drift = weight.flatten().numpy() * np.linspace(0.9, 1, 20)[:, np.newaxis]
    solution = replace(made, labels=right, trajectory=drift.astype(np.float32))
    rows = measure("first_mode", solution, OPTIONS)["margins"]
    at = rows[rows["label"] == right[0, 0].item()]["theta"].to_numpy()
    assert at[0] == pytest.approx(-at[-1]) and at[0] < 0
    assert np.isfinite(rows["margin"]).all()


def test_it_goes_from_one_end_of_the_valley_to_the_other(make_solution):
    solution = with_recording(make_solution("two_hidden"), "fc2")
    rows = measure("first_mode", solution, OPTIONS)["margins"]
    at = rows[rows["label"] == 1]["theta"].to_numpy()
    assert at[0] < 0 < at[-1]
    np.testing.assert_allclose(np.diff(at), np.diff(at)[0], rtol=1e-9)

    def loss(theta):
        logits = along(solution, "fc2", theta)
        return torch.nn.functional.cross_entropy(logits, solution.labels[0]).item()

    np.testing.assert_allclose([loss(at[0]), loss(at[-1])], np.e * loss(0.0), rtol=1e-6)


def test_in_the_last_layer_it_is_a_straight_line_where_the_wrong_class_stays(make_solution):
    """Y is then linear in θ, and ΔY concave: the largest of the wrong ones may change."""
    solution = with_recording(make_solution("two_hidden"), "fc3")
    rows = measure("first_mode", solution, {"layer": "fc3", "images": 1})["margins"]
    for _, curve in rows.groupby("label"):
        bend = np.diff(curve["margin"], 2)
        assert (bend <= 1e-9).all()
        assert (np.abs(bend) < 1e-9).sum() >= len(bend) - 4


def test_margins_by_hand():
    logits = torch.tensor([[1.0, 4, 2], [3, -1, 5]])
    found = margins(logits, torch.tensor([1, 0]))
    assert found.tolist() == [2, -2]
