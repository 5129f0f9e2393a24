"""MNIST: 70,000 handwritten digits, 28 x 28, as idx files or their gz archives."""

from pathlib import Path

import numpy as np
from torchvision.datasets import MNIST

from flatlas.data.images import Images
from flatlas.data.sources.torchvision_sets import checked, download
from flatlas.plan.data_specs import Mnist
from flatlas.published_sets import SETS

# Checksums of the unpacked files: archives of the same content may differ.
CHECKSUMS = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}


def load(spec: Mnist, root: Path) -> Images:
    """The set in `root/MNIST/raw`, downloaded if it is missing."""
    published = SETS["mnist"]
    there = published.found(root)
    missing = [name for name in CHECKSUMS if name not in there]
    if missing:
        download(MNIST, root, published.folder, missing)
        there = published.found(root)
    train_images, train_labels, test_images, test_labels = (
        _array(checked(there[name], md5)) for name, md5 in CHECKSUMS.items()
    )
    return Images(
        train_images=train_images[:, None],
        train_labels=train_labels.astype(np.int64),
        test_images=test_images[:, None],
        test_labels=test_labels.astype(np.int64),
    )


def _array(idx: bytes) -> np.ndarray:
    """The bytes of an idx file as an array.

    The fourth byte is the number of dimensions; their sizes follow as big-endian integers of
    four bytes each, then the values, a byte each.
    """
    dimensions = idx[3]
    shape = np.frombuffer(idx, dtype=">u4", count=dimensions, offset=4)
    return np.frombuffer(idx, dtype=np.uint8, offset=4 * (1 + dimensions)).reshape(shape)
