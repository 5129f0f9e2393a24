"""The function f that a net expresses, and P(f): how often random nets express it (§5.1).

A function is a binary net's thresholded outputs for a list of inputs, in order, packed eight to a
byte. Random nets are drawn from the net's own initialization, in float32.
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

# Nets in one forward pass, whose activities fit into a core's cache.
BLOCK = 16
# After this many nets, only functions that have occurred twice are counted.
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
    """f of each member on shared inputs (image, channel, row, column)."""
    members = len(next(iter(parameters.values())))
    logits = net.forward(parameters, inputs.expand(members, *inputs.shape))
    return packed(predictions(logits))


def packed(labels: Tensor) -> list[bytes]:
    """Packed functions, from their labels 0 and 1 (function, image); zeros fill the last byte."""
    return [bits.tobytes() for bits in np.packbits(labels.bool().cpu().numpy(), axis=1)]


def random_functions(net: LayeredNet, inputs: Tensor) -> Iterator[bytes]:
    """An endless sequence of the functions of random nets."""
    generator = torch.Generator().manual_seed(stream(0, "random nets"))
    while True:
        yield from expressed(net, random_nets(net, BLOCK, generator), inputs)


def count_functions(
    net: LayeredNet, inputs: Tensor, draws: int, report: Callable[..., None]
) -> Counter[bytes]:
    """How often each function occurs in `draws` random nets, if at least twice.

    Most functions occur only once, and there are too many to store. So after the first SEARCHED
    nets, only functions that occurred at least twice among them are counted. A function with
    P(f) = 1e-5 is missed with a probability of 5 in 10,000.
    """
    functions = islice(random_functions(net, inputs), draws)
    counts: Counter[bytes] = Counter()
    # The time left is estimated from the first report on.
    report(0, draws)
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
