"""EP's prior of Boolean functions against how often wide random nets express them.

All inputs of three bits are eight points, so that the commonest functions are met thousands of
times. EP has an error of its own, and a net of finite width another: both are far below a tenth.
"""

from itertools import product
from math import exp, sqrt

import numpy as np
import pytest
import torch

from flatlas.gaussian_process.expectation_propagation import expectation_propagation
from flatlas.gaussian_process.kernels import arc_cosine_kernel
from flatlas.nets import build_net
from flatlas.nets.functions import count_functions, packed
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.initializations import ScaledNormal

BITS, DRAWS, COMMONEST = 3, 20_000, 20
INIT = ScaledNormal(scheme="scaled_normal", weight_std=1.0, bias_std=0.1)


@pytest.fixture(scope="module")
def frequencies():
    """The commonest functions of nets 200 wide, as labels on all inputs, and their shares."""
    spec = DenseNet(family="dense", hidden=(200, 200), bias=True, init=INIT)
    net = build_net(spec, (1, 1, BITS), 1)
    counts = count_functions(net, inputs().float(), DRAWS, lambda *steps, **facts: None)
    return {
        function: count / DRAWS for function, count in counts.most_common(COMMONEST)
    }, arc_cosine_kernel(net)


def inputs():
    domain = np.array(list(product([0.0, 1.0], repeat=BITS)))
    return torch.from_numpy(domain)[:, None, None]


def test_the_commonest_functions_are_as_likely_as_ep_says(frequencies):
    """The input of zeros has the variance of the biases alone, and K is regular all the same."""
    shares, kernel = frequencies
    labels = torch.tensor(list(product([0, 1], repeat=2**BITS)))
    by_name = dict(zip(packed(labels), labels, strict=True))
    functions = torch.stack([by_name[name] for name in shares])
    matrix = kernel(inputs().flatten(1)).to_dense()
    evidences = expectation_propagation(matrix, 2 * functions - 1)
    assert all(one.converged for one in evidences)
    for (name, share), one in zip(shares.items(), evidences, strict=True):
        likely = exp(one.log_z)
        chance = 4 * sqrt(likely * (1 - likely) / DRAWS)
        assert share == pytest.approx(likely, abs=chance + 0.1 * likely), name
    # The two constants are by far the likeliest, by EP as by counting.
    likeliest = sorted(zip(evidences, shares, strict=True), key=lambda pair: -pair[0].log_z)[:2]
    assert {name for _, name in likeliest} == {b"\x00", b"\xff"}
