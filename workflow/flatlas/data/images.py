"""A data source in memory and on disk: the same four arrays for every kind of source."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flatlas.errors import FlatlasError
from flatlas.store.arrays import read_arrays, write_arrays


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


def write_images(path: str | Path, images: Images) -> None:
    """Write a source to one file."""
    write_arrays(path, vars(images))


def read_labels(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Only the training and test labels of a source."""
    labels = read_arrays(path, ("train_labels", "test_labels"))
    return labels["train_labels"], labels["test_labels"]
