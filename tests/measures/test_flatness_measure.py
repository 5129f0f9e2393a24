"""F_n against the loss of the changed net along the directions of automatic differentiation."""

import numpy as np
import pytest
import torch
from solutions import along, layer_hessian, make_solution

from flatlas.measures import measure
from flatlas.measures.landscape import TOLERANCE


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
