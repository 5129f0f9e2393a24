"""What a deletion of results would remove and free."""

import os
from collections.abc import Iterable
from math import log10
from pathlib import Path

UNITS = ("B", "kB", "MB", "GB", "TB")


def would_delete(results: Iterable[str]) -> str:
    """Those of these files and folders that exist, each with its size, and what all free."""
    sizes = {one: _size(Path(one)) for one in results if os.path.lexists(one)}
    if not sizes:
        return "nothing."
    lines = [f"{readable_size(size):>9}  {one}" for one, size in sizes.items()]
    total = f"{len(sizes)} files and folders, {readable_size(sum(sizes.values()))}:"
    return "\n".join([total, *lines])


def _size(path: Path) -> int:
    """The bytes of a file or of all files in a folder; links count as themselves."""
    if path.is_dir() and not path.is_symlink():
        return sum(_size(one) for one in path.iterdir())
    return path.lstat().st_size


def readable_size(size: int) -> str:
    """Bytes as a person says them: 12.0 kB, 3.4 MB."""
    thousands = min(int(log10(max(size, 1)) // 3), len(UNITS) - 1)
    return f"{size / 1000**thousands:.1f} {UNITS[thousands]}"
