"""A layer times p, the next over p: the powers of p that follow, and the net that stays."""

from dataclasses import replace

import numpy as np
import pytest

from flatlas.errors import FlatlasError
from flatlas.measures import measure

POWERS = {"eigenvalue": -2, "sigma_g": -1, "sigma_w": 1, "gap": 0}
HESSIAN = {"layer": "fc2", "directions": "hessian"}


def rescaled(solution, *factors, layer="fc2"):
    options = {"layer": layer, "directions": "hessian", "factors": factors}
    return measure("scale_invariance", solution, options)["directions"]


def by_hand(solution, p):
    """fc2 and its bias times p, fc3's weights over p, its bias as it is."""
    changes = {"fc2.weight": p, "fc2.bias": p, "fc3.weight": 1 / p}
    scaled = {key: changes.get(key, 1) * value for key, value in solution.parameters.items()}
    return replace(solution, parameters=scaled)


@pytest.mark.parametrize("net", ["two_hidden", "biases"])
def test_powers_of_the_factor(make_solution, net):
    """Δw ~ p, g ~ 1/p and H ~ 1/p² in every direction, so that ΔL_n stays."""
    solution = make_solution(net, images=100, seed=3)
    rows = rescaled(solution, 0.3, 1.0, 7.0)
    unscaled = measure("duality", solution, {**HESSIAN, "sharp": "steepest"})["directions"]
    for p, table in rows.groupby("factor"):
        assert table["n"].tolist() == unscaled["n"].tolist()
        for name, power in POWERS.items():
            expected = p**power * unscaled[name]
            largest = 1e-9 * expected.abs().max()
            np.testing.assert_allclose(table[name], expected, rtol=1e-6, atol=largest)


@pytest.mark.parametrize("net", ["two_hidden", "biases"])
def test_the_duality_of_a_net_that_was_rescaled_by_hand(make_solution, net):
    """Which gives the same logits as before."""
    solution = make_solution(net, images=100, seed=3)
    changed = by_hand(solution, 3.0)
    logits = [one.net.forward(one.parameters, one.test_inputs) for one in (solution, changed)]
    np.testing.assert_allclose(*logits, rtol=1e-12)
    expected = measure("duality", changed, {**HESSIAN, "sharp": "steepest"})["directions"]
    rows = rescaled(solution, 3.0)
    for name in POWERS:
        np.testing.assert_allclose(rows[name], expected[name], rtol=1e-9)


def test_directions_keep_their_rank_beside_arbitrary_ones(make_solution):
    """A neuron silent in training has six directions of eigenvalue 0, in no order of their own."""
    solution = make_solution("biases", images=100, seed=3)
    solution.parameters["fc2.bias"][:, 0] = -1e3
    rows = rescaled(solution, 1.0, 3.0)
    one, three = (table.set_index("n") for _, table in rows.groupby("factor"))
    curved = one["eigenvalue"] > 1e-12 * one["eigenvalue"].max()
    assert (~curved).sum() == 8
    assert (one["sigma_g"][~curved] > 1e-6).any()
    largest = 1e-9 * one["gap"].abs().max()
    np.testing.assert_allclose(three["gap"][curved], one["gap"][curved], rtol=1e-6, atol=largest)
    assert three["gap"][~curved].sum() == pytest.approx(one["gap"][~curved].sum(), rel=1e-6)


def test_the_last_layer_has_none_to_scale_against(make_solution):
    with pytest.raises(FlatlasError, match=r"layer 'fc3' is the last.*Allowed: fc1, fc2"):
        rescaled(make_solution("two_hidden"), 2.0, layer="fc3")
