"""Images as lists of their nonzero pixels, for the compiled kernel."""

import numpy as np

from flatlas.errors import FlatlasError
from flatlas.training.kernel import Images, Kernel

# Images are gathered and compressed in blocks of this many, which fit into a core's cache.
BLOCK = 64


class SparseImages:
    """The images and labels of all draws; an image in several draws is stored once."""

    def __init__(
        self,
        kernel: Kernel,
        inputs: np.ndarray,
        labels: np.ndarray,
        index: np.ndarray | None,
        bias: bool,
        outputs: int,
    ) -> None:
        """`inputs` are (draw, image, ...); equal numbers in `index` (draw, image) are equal images.

        With a `bias` each list ends with a unit that is always 1.
        """
        _check(labels, outputs)
        draws, count = labels.shape
        flat = inputs.reshape(draws * count, -1)
        first = np.arange(len(flat))
        self.image = first.reshape(labels.shape)
        if index is not None:
            _, first, which = np.unique(index, return_index=True, return_inverse=True)
            self.image = np.ascontiguousarray(which.reshape(labels.shape), dtype=np.int64)
        self.labels = np.ascontiguousarray(labels, dtype=np.int64)
        # Room for all images as if none were shared. Pages that stay unwritten take no memory.
        room = np.count_nonzero(flat) + bias * len(first) + 1
        self.entries = np.empty(room, dtype=kernel.entry)
        self.starts = np.zeros(len(first) + 1, dtype=np.int64)
        for begin in range(0, len(first), BLOCK):
            block = np.ascontiguousarray(flat[first[begin : begin + BLOCK]], dtype=np.float32)
            starts = self.starts[begin : begin + len(block) + 1]
            before = int(starts[0])
            kernel.library.compress(
                block.ctypes.data, len(block), flat.shape[1], bias,
                self.entries[before:].ctypes.data, starts.ctypes.data,
            )  # fmt: skip
            starts += before

        # The kernel's view of each draw, with pointers into these arrays.
        self.of = [
            Images(
                self.starts.ctypes.data,
                self.entries.ctypes.data,
                image.ctypes.data,
                label.ctypes.data,
            )
            for image, label in zip(self.image, self.labels, strict=True)
        ]


def _check(labels: np.ndarray, outputs: int) -> None:
    """Raise an error for labels without an output: the kernel would write out of bounds."""
    if outputs > 1 and labels.size and not 0 <= labels.min() <= labels.max() < outputs:
        raise FlatlasError(
            f"labels are {labels.min()} to {labels.max()}, but the net has outputs 0 to "
            f"{outputs - 1}. Give it an output for each class."
        )
