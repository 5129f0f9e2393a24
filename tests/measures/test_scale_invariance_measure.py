"""A layer times p, the next over p: the powers of p that follow, and the same function."""

import numpy as np
import pytest
from solutions import make_solution

from flatlas.measures import measure

POWERS = {"eigenvalue": -2, "sigma_g": -1, "sigma_w": 1, "gap": 0}
HESSIAN = {"layer": "fc2", "directions": "hessian"}


def rescaled(solution, *factors):
    return measure("scale_invariance", solution, HESSIAN | {"factors": factors})["directions"]


def duality(solution):
    return measure("duality", solution, HESSIAN | {"sharp": "steepest"})["directions"]


@pytest.mark.parametrize("net", ["two_hidden", "biases"])
def test_directions_are_those_of_a_rescaled_net(net):
    """Δw ~ p, g ~ 1/p and H ~ 1/p² in every direction, so ΔL_n does not change.

    fc2 and its bias are multiplied by p, fc3's weights divided by p.
    """
    solution = make_solution(net, images=100, seed=3)
    unscaled, logits = duality(solution), solution.net.forward(solution.parameters, solution.inputs)
    for p, table in rescaled(solution, 0.3, 1.0, 7.0).groupby("factor"):
        scaled = make_solution(net, images=100, seed=3)
        for name, factor in {"fc2.weight": p, "fc2.bias": p, "fc3.weight": 1 / p}.items():
            if name in scaled.parameters:
                scaled.parameters[name] *= factor
        changed = scaled.net.forward(scaled.parameters, scaled.inputs)
        np.testing.assert_allclose(changed, logits, rtol=1e-11)
        assert table["n"].tolist() == unscaled["n"].tolist()
        for name, power in POWERS.items():
            expected = p**power * unscaled[name]
            largest = 1e-9 * expected.abs().max()
            for other in (expected, duality(scaled)[name]):
                np.testing.assert_allclose(table[name], other, rtol=1e-6, atol=largest)


def test_directions_keep_their_rank_beside_arbitrary_ones():
    """A neuron silent in training has six directions of eigenvalue 0, in arbitrary order."""
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
