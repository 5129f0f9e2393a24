"""Small Boolean systems: all inputs of some bits, and a net whose functions are counted."""

from collections import Counter
from itertools import product

import numpy as np
import torch
from net_stacks import dense

from flatlas.nets import build_net
from flatlas.nets.functions import count_functions
from flatlas.plan.initializations import ScaledNormal

WEIGHT_STD, BIAS_STD = 1.5, 0.4
INIT = ScaledNormal(scheme="scaled_normal", weight_std=WEIGHT_STD, bias_std=BIAS_STD)


def domain(bits):
    """All inputs, counted up."""
    return np.array(list(product([0, 1], repeat=bits)), dtype=np.float32)


def system(bits, *hidden, init=INIT):
    """A net with biases, and all of its inputs."""
    net = build_net(dense(*hidden, bias=True, init=init), (1, 1, bits), 1)
    return net, torch.from_numpy(domain(bits))[:, None, None]


def counted(bits, *hidden, draws, init=INIT) -> Counter:
    """How often random nets express each function: P(f) by sampling."""
    net, inputs = system(bits, *hidden, init=init)
    return count_functions(net, inputs, draws, lambda *steps, **facts: None)


def packed_string(*labels):
    """A function by its labels, first to last."""
    eights = [labels[first : first + 8] for first in range(0, len(labels), 8)]
    return bytes(int("".join(map(str, eight)).ljust(8, "0"), 2) for eight in eights)
