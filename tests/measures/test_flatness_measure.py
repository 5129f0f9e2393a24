"""F_n against the loss of the changed net along the directions of automatic differentiation."""

import numpy as np
import pytest
import torch

from flatlas.measures import measure
from flatlas.measures.landscape import TOLERANCE
from flatlas.nets.loss import sample_losses


def flatness(solution, factor=2.0, directions="hessian"):
    options = {"layer": "fc2", "directions": directions, "factor": factor}
    return measure("flatness", solution, options)["directions"]


def mean_loss(solution, flat):
    weight = solution.parameters["fc2.weight"]
    changed = {**solution.parameters, "fc2.weight": flat.reshape(weight.shape)}
    logits = solution.net.forward(changed, solution.inputs)
    return sample_losses(logits, solution.labels).mean()


@pytest.mark.parametrize("factor", [1.5, 2.0])
def test_the_loss_has_grown_by_the_factor_at_both_ends(make_solution, factor):
    solution = make_solution("two_hidden", images=100, seed=3)
    rows = flatness(solution, factor)
    weight = solution.parameters["fc2.weight"].flatten()
    matrix = torch.autograd.functional.hessian(lambda w: mean_loss(solution, w), weight)
    vectors = dict(zip(range(54), torch.linalg.eigh(matrix)[1].T, strict=True))
    position = rows["eigenvalue"].rank().astype(int) - 1
    level = factor * mean_loss(solution, weight).item()
    for n, row in rows.iterrows():
        # Which of the two ends is the left one is the arbitrary sign of the eigenvector.
        losses = [
            [
                mean_loss(solution, weight + sign * row[end] * vectors[position[n]]).item()
                for end in ("left", "right")
            ]
            for sign in (-1, 1)
        ]
        assert min(max(abs(np.array(pair) / level - 1)) for pair in losses) < 1e-6
    assert rows["converged"].all()
    assert (rows["residual"] <= TOLERANCE).all()
    assert (rows["left"] < 0).all() and (rows["right"] > 0).all()
    np.testing.assert_array_equal(rows["flatness"], rows["right"] - rows["left"])


@pytest.mark.parametrize("directions", ["hessian", "fisher"])
def test_directions_are_those_of_the_duality(make_solution, directions):
    solution = make_solution("two_hidden", images=100)
    rows = flatness(solution, directions=directions)
    options = {"layer": "fc2", "directions": directions, "sharp": "steepest"}
    expected = measure("duality", solution, options)["directions"]
    shared = ["n", "eigenvalue", "sigma_g"]
    np.testing.assert_array_equal(rows[shared], expected[shared])


def test_weights_that_nothing_comes_through_have_no_flatness(make_solution):
    """A silent neuron below the layer: the loss stays as it is along its six weights."""
    solution = make_solution("two_hidden", images=100)
    solution.parameters["fc1.weight"][:, :, 4] = 0.0
    rows = flatness(solution)
    nowhere = rows["sigma_g"] < 1e-12
    assert nowhere.sum() == 6
    assert rows["flatness"].isna().tolist() == nowhere.tolist()
    assert rows["converged"].tolist() == (~nowhere).tolist()
