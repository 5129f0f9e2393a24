"""EP's prior of Boolean functions against how often wide random nets express them.

All inputs of three bits are eight points, so the commonest functions appear thousands of times. EP
has an error, and a net of finite width another one: both are far below a tenth.
"""

from itertools import product
from math import exp, sqrt

import pytest
import torch

from flatlas.gaussian_process.expectation_propagation import expectation_propagation
from flatlas.gaussian_process.kernels import arc_cosine_kernel
from flatlas.nets import build_net
from flatlas.nets.functions import count_functions, packed
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.initializations import ScaledNormal

DRAWS = 20_000
INIT = ScaledNormal(scheme="scaled_normal", weight_std=1.0, bias_std=0.1)


def test_the_commonest_functions_are_as_likely_as_ep_says():
    """The input of zeros has only the variance of the biases, and K is still regular."""
    spec = DenseNet(family="dense", hidden=(200, 200), bias=True, init=INIT)
    net = build_net(spec, (1, 1, 3), 1)
    inputs = torch.tensor([*product([0.0, 1.0], repeat=3)])[:, None, None]
    counts = count_functions(net, inputs, DRAWS, lambda *steps, **facts: None).most_common(20)
    labels = torch.tensor([*product([0, 1], repeat=8)])
    by_name = dict(zip(packed(labels), labels, strict=True))
    functions = torch.stack([by_name[name] for name, _ in counts])
    matrix = arc_cosine_kernel(net)(inputs.double().flatten(1)).to_dense()
    evidences = expectation_propagation(matrix, 2 * functions - 1)
    assert all(one.converged for one in evidences)
    for (name, count), one in zip(counts, evidences, strict=True):
        likely = exp(one.log_z)
        chance = 4 * sqrt(likely * (1 - likely) / DRAWS)
        assert count / DRAWS == pytest.approx(likely, abs=chance + 0.1 * likely), name
    # The two constants are by far the likeliest, by EP as by counting.
    likeliest = sorted(zip(evidences, counts, strict=True), key=lambda pair: -pair[0].log_z)[:2]
    assert {name for _, (name, _) in likeliest} == {b"\x00", b"\xff"}
