"""The published data sets: their folders and files, and a check for incomplete files.

The module is outside `plan`, so that its fingerprint belongs to the job that reads the images
(plan/fingerprint.py).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flatlas.data_root import NotInDataRootError, hint
from flatlas.errors import FlatlasError


@dataclass(frozen=True)
class PublishedSet:
    """The folder of a set in the data root, and its files, each with its least size in bytes."""

    folder: str
    sizes: Mapping[str, int]
    archived: bool = False
    """Whether `<name>.gz`, as published, serves as well as the file."""

    def found(self, root: Path) -> dict[str, Path]:
        """The files in a data root, by name."""
        endings = ("", ".gz") if self.archived else ("",)
        there: dict[str, Path] = {}
        for name in self.sizes:
            for ending in endings:
                path = root / self.folder / f"{name}{ending}"
                if path.is_file():
                    there.setdefault(name, path)
        return there


PIXELS = 32 * 32 * 3
SETS = {
    "mnist": PublishedSet(
        "MNIST/raw",
        {
            "train-images-idx3-ubyte": 16 + 60_000 * 28 * 28,
            "train-labels-idx1-ubyte": 8 + 60_000,
            "t10k-images-idx3-ubyte": 16 + 10_000 * 28 * 28,
            "t10k-labels-idx1-ubyte": 8 + 10_000,
        },
        archived=True,
    ),
    "cifar10": PublishedSet(
        "cifar-10-batches-py",
        {f"data_batch_{number}": 10_000 * PIXELS for number in range(1, 6)}
        | {"test_batch": 10_000 * PIXELS, "batches.meta": 1},
    ),
    "cifar100": PublishedSet(
        "cifar-100-python", {"train": 50_000 * PIXELS, "test": 10_000 * PIXELS, "meta": 1}
    ),
}
GZIP = b"\x1f\x8b"
REMEDY = "Delete it; it is downloaded again on a machine with internet."


def refuse_unreadable(published: PublishedSet, root: Path) -> None:
    """Raise an error if this is the wrong root, or if a file in it is certainly incomplete.

    The check is fast. The job that reads the files compares their checksums.
    """
    found = published.found(root)
    instead = hint(root, published.folder)
    if not found and instead:
        raise NotInDataRootError(f"{root} has no {published.folder}.{instead}")
    for name, path in found.items():
        size, least = path.stat().st_size, published.sizes[name]
        if path.name != name:
            _refuse_no_archive(path, least)
        elif size < least:
            raise FlatlasError(
                f"{path} is truncated: it has {size:,} bytes, of at least {least:,}. {REMEDY}"
            )


def _refuse_no_archive(path: Path, size: int) -> None:
    """Raise an error unless a file begins and ends like an archive of `size` bytes.

    The last four bytes are the size of the archive's last part, which is mostly the only one.
    """
    with path.open("rb") as file:
        begins = file.read(len(GZIP))
        file.seek(-min(4, path.stat().st_size), os.SEEK_END)
        last = int.from_bytes(file.read(), "little")
    if begins != GZIP or last > size:
        raise FlatlasError(f"{path} is truncated, or not a gzip archive. {REMEDY}")
