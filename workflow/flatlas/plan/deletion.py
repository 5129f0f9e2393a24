"""Deletes results, or lists what a deletion would remove and how much space it would free."""

import os
import shutil
from collections.abc import Iterable, Iterator
from math import log10
from pathlib import Path

from flatlas.errors import FlatlasError
from flatlas.plan.paths import RESULTS

UNITS = ("B", "kB", "MB", "GB", "TB")


def would_delete(results: Iterable[str]) -> str:
    """The files and folders that exist, each with its size, and the sum of the sizes."""
    sizes = {one: _size(Path(one)) for one in existing(results)}
    if not sizes:
        return "nothing."
    lines = [f"{readable_size(size):>9}  {one}" for one, size in sizes.items()]
    count = "1 file or folder" if len(sizes) == 1 else f"{len(sizes)} files and folders"
    total = f"{count}, {readable_size(sum(sizes.values()))}:"
    return "\n".join([total, *lines])


def delete(results: Iterable[str]) -> Iterator[str]:
    """Delete the files and folders that exist, and yield each. Of a link, only the link is deleted.

    Deletes nothing if any of them lies outside the results.
    """
    there = existing(results)
    for one in there:
        path = Path(one)
        if RESULTS not in path.parents or ".." in path.parts:
            raise FlatlasError(f"Nothing is deleted: {one} does not lie in {RESULTS}/.")
    for one in there:
        if _is_folder(Path(one)):
            shutil.rmtree(one)
        else:
            os.unlink(one)
        yield one


def existing(results: Iterable[str]) -> list[str]:
    """The files and folders that exist, and all links, even those whose target is gone."""
    return [one for one in results if os.path.lexists(one)]


def _size(path: Path) -> int:
    """The bytes of a file or of all files in a folder; links count as themselves."""
    if _is_folder(path):
        return sum(_size(one) for one in path.iterdir())
    return path.lstat().st_size


def _is_folder(path: Path) -> bool:
    """Whether it is a folder itself, rather than a link to one."""
    return path.is_dir() and not path.is_symlink()


def readable_size(size: int) -> str:
    """A number of bytes in readable units: 12.0 kB, 3.4 MB."""
    thousands = min(int(log10(max(size, 1)) // 3), len(UNITS) - 1)
    return f"{size / 1000**thousands:.1f} {UNITS[thousands]}"
