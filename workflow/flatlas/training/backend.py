"""The choice between the compiled kernel, where it is faster, and torch."""

from itertools import pairwise
from math import prod

import numpy as np

from flatlas.data.samples import Samples
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.training_specs import RunSpec
from flatlas.training.kernel import Kernel, find_kernel
from flatlas.training.learners import Team

# The kernel is faster up to LARGEST_SHARE of nonzero pixels: each of these costs it about twice as
# much as any pixel costs a matrix product. It is always faster up to FEW nonzero pixels, where
# calling torch costs more than the products.
LARGEST_SHARE, FEW = 0.5, 100
# The most weights in a layer above the first. Each image needs all of them, so they must fit into a
# core's cache.
MOST_WEIGHTS = 512 * 512


def choose_kernel(spec: RunSpec, samples: Samples, device: str, team: Team | None) -> Kernel | None:
    """The kernel if it is faster: a dense net, on the CPU, in one process, with few nonzero pixels.

    None if torch trains. The choice depends only on the spec, the images, the device and the
    compiler.
    """
    if not isinstance(spec.net, DenseNet) or device != "cpu" or team is not None:
        return None
    if any(prod(pair) > MOST_WEIGHTS for pair in pairwise((*spec.net.hidden, spec.outputs))):
        return None
    nonzero = np.count_nonzero(samples.inputs) / samples.labels.size
    if nonzero > max(FEW, LARGEST_SHARE * prod(spec.input_shape)):
        return None
    return find_kernel()


def backend_name(kernel: Kernel | None) -> str:
    """The backend's name, for the provenance and for the state of an interrupted training."""
    return "torch" if kernel is None else kernel.name
