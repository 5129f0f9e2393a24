"""A data source in memory and on disk: the same four arrays for every kind of source."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import Normalize
from flatlas.store.arrays import array_names, read_arrays, write_arrays


@dataclass(frozen=True)
class Images:
    """Training and test images, uint8 as (image, channel, row, column), and labels from 0."""

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray

    def __post_init__(self) -> None:
        """Refuse arrays that no later stage could use."""
        for part in ("train", "test"):
            images, labels = getattr(self, f"{part}_images"), getattr(self, f"{part}_labels")
            if images.ndim != 4 or images.dtype != np.uint8:
                raise FlatlasError(
                    f"{part} images are {images.dtype} of shape {images.shape}; "
                    "they must be uint8 as (image, channel, row, column)"
                )
            if len(images) != len(labels):
                raise FlatlasError(f"{len(images)} {part} images but {len(labels)} labels")


def write_images(path: str | Path, images: Images, normalize: Normalize | None = None) -> None:
    """Write a source, and how its images are normalized, to one file."""
    numbers = {name: np.array(values, np.float32) for name, values in normalize or ()}
    write_arrays(path, vars(images) | numbers)


def read_labels(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Only the training and test labels of a source."""
    labels = read_arrays(path, ("train_labels", "test_labels"))
    return labels["train_labels"], labels["test_labels"]


def read_inputs(path: str | Path, name: str, index: np.ndarray) -> np.ndarray:
    """A network's inputs (draw, image, channel, row, column) from the images at (draw, image).

    They are pixels / 255, normalized if the source says so: the same numbers as torchvision's
    `ToTensor` and `Normalize` give. The draws are computed one at a time, to save memory.
    """
    normalized = {"mean", "std"} <= array_names(path)
    arrays = read_arrays(path, (name, "mean", "std") if normalized else (name,))
    images = arrays[name]
    inputs = np.empty((*index.shape, *images.shape[1:]), dtype=np.float32)
    for draw, of_draw in zip(inputs, index, strict=True):
        np.divide(images[of_draw], np.float32(255), out=draw)
        if normalized:
            draw -= arrays["mean"][:, None, None]
            draw /= arrays["std"][:, None, None]
    return inputs
