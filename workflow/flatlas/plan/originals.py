"""What is known of a data source's original files before they are read."""

import hashlib
from pathlib import Path

from flatlas.plan.data_specs import Folder, SourceSpec


def originals(source: SourceSpec, data_root: str) -> str:
    """A digest that changes when a folder's images do; '' for sources that cannot change.

    torchvision's sets have checksums, digits and textures come from code. A folder of images is
    known by the names, sizes and times of its files, wherever it lies.
    """
    if not isinstance(source, Folder):
        return ""
    root = Path(data_root).expanduser() / source.path
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file():
            found = path.stat()
            told = f"{path.relative_to(root)} {found.st_size} {found.st_mtime_ns}"
            digest.update(told.encode())
    return digest.hexdigest()[:12]
