"""What is known of a data source's original files before they are read."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def originals(source: Mapping[str, Any], data_root: str) -> str:
    """A digest that changes when a folder's images do; '' for sources that cannot change.

    torchvision's sets have checksums, digits and textures come from code. A folder of images is
    known by the names, sizes and times of its files, wherever it or its classes' folders lie. One
    that is not there has no digest: the job that reads it says so.
    """
    if source["kind"] != "folder":
        return ""
    root = Path(data_root).expanduser() / source["path"]
    found_files = [
        f"{path.relative_to(root)} {found.st_size} {found.st_mtime_ns}"
        for path in sorted(_files(root))
        for found in [path.stat()]
    ]
    return hashlib.sha256("".join(found_files).encode()).hexdigest()[:12] if found_files else ""


def _files(root: Path) -> Iterator[Path]:
    """All files below a folder, behind links to folders, too, as the job finds them."""
    for folder, _, names in os.walk(root, followlinks=True):
        yield from (path for path in (Path(folder) / name for name in names) if path.is_file())
