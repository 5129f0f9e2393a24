"""All inputs of n bits, the domain of a Boolean function (§5.1 of the prior paper)."""

from pathlib import Path

import numpy as np

from flatlas.data.images import Images
from flatlas.plan.data_specs import Boolean


def load(spec: Boolean, root: Path) -> Images:
    """The 2^n inputs in binary order, the same for training and testing, labelled 0."""
    numbers, places = np.arange(2**spec.bits), np.arange(spec.bits)[::-1]
    bits = numbers[:, None] >> places & 1
    images = (255 * bits).astype(np.uint8)[:, None, None]
    labels = np.zeros(len(images), dtype=np.int64)
    return Images(images, labels, images, labels)
