"""The function f that a net expresses, and P(f): how often random nets express it (§5.1).

A function is what a binary net says of a list of inputs: its thresholded outputs in their order,
packed eight to a byte. Random nets are drawn from the net's own initialization, in float32.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from flatlas.nets.initialization import initial_parameter
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.nets.loss import predictions
from flatlas.seeds import stream

# Nets at a time: as many as leave their activity in a core's cache.
BLOCK = 16
# Nets in which the functions are found that are counted from there on.
SEARCHED = 10**6
# Nets between two reports of progress; SEARCHED is a multiple of it.
REPORTED = 10**5


def random_nets(net: LayeredNet, count: int, generator: torch.Generator) -> Parameters:
    """The weights of `count` independent nets, all from one generator."""
    return {
        name: initial_parameter(net.init, name, (count, *shape), layer.fans, generator)
        for layer in net.layers
        for name, shape in layer.shapes.items()
    }


def expressed(net: LayeredNet, parameters: Parameters, inputs: Tensor) -> list[bytes]:
    """f of each member on inputs (image, channel, row, column) that they share."""
    members = len(next(iter(parameters.values())))
    logits = net.forward(parameters, inputs.expand(members, *inputs.shape))
    return packed(predictions(logits))


def packed(labels: Tensor) -> list[bytes]:
    """Functions by their labels 0 and 1 (function, image); zeros fill the last byte."""
    return [bits.tobytes() for bits in np.packbits(labels.bool().cpu().numpy(), axis=1)]


def random_functions(net: LayeredNet, inputs: Tensor) -> Iterator[bytes]:
    """The functions of one random net after another, without end."""
    generator = torch.Generator().manual_seed(stream(0, "random nets"))
    while True:
        yield from expressed(net, random_nets(net, BLOCK, generator), inputs)


def count_functions(
    net: LayeredNet, inputs: Tensor, draws: int, report: Callable[..., None]
) -> Counter[bytes]:
    """How often each function comes up in `draws` random nets.

    Most functions come up once and never again: too many to remember. So beyond the first SEARCHED
    nets only those are counted that came up twice among them. A function with P(f) = 1e-5 is
    missed with a chance of 5 in 10,000.
    """
    functions = islice(random_functions(net, inputs), draws)
    counts: Counter[bytes] = Counter()
    for done in range(0, draws, REPORTED):
        some: Iterator[bytes] = islice(functions, REPORTED)
        if done >= SEARCHED:
            some = filter(counts.__contains__, some)
        counts.update(some)
        report(min(done + REPORTED, draws), draws, functions=len(counts))
        if done + REPORTED == SEARCHED:
            counts = _repeated(counts)
    return _repeated(counts)


def _repeated(counts: Counter[bytes]) -> Counter[bytes]:
    return Counter({function: count for function, count in counts.items() if count > 1})
