"""What is known of a data source's original files before they are read."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.image_files import images_by_class


def originals(source: Mapping[str, Any], data_root: str) -> str:
    """A digest that changes when a folder's images do; '' for sources that cannot change.

    torchvision's sets have checksums, digits and textures come from code. A folder of images is
    known by the names, sizes and times of its images, wherever it lies; other files in it do not
    count. A folder that cannot be read has no digest: the job that reads it says why.
    """
    if source["kind"] != "folder":
        return ""
    root = Path(data_root).expanduser() / source["path"]
    try:
        by_class = [
            images_by_class(root, part, source.get("follow_links", False))
            for part in ("test", "train")
        ]
        known = [
            f"{path.relative_to(root)} {found.st_size} {found.st_mtime_ns}"
            for classes in by_class
            for paths in classes.values()
            for path in paths
            for found in [path.stat()]
        ]
    except (OSError, FlatlasError):
        return ""
    return hashlib.sha256("".join(known).encode()).hexdigest()[:12]
