"""Checks a data source's original files before they are read, and detects changed ones."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flatlas.data_root import NotInDataRootError, naming_data_root
from flatlas.image_files import training_and_test
from flatlas.plan.paths import RESULTS
from flatlas.published_sets import SETS, PublishedSet, refuse_unreadable


def originals(source: Mapping[str, Any], data_root: str, where_set: str, read: bool = False) -> str:
    """A digest that changes when a folder's images do; '' for sources that cannot change.

    torchvision's sets have checksums; digits and textures come from code. For a folder of images
    the digest covers the names, sizes and times of its images, but not its place or its other
    files. Files that certainly can't be read are an error, unless the source has been `read`
    already. A published set that is missing will be downloaded.
    """
    root = Path(data_root).expanduser()
    with naming_data_root(root, where_set):
        if source["kind"] == "folder":
            return _digest(root, source)
        if source["kind"] in SETS and not read:
            _check_published(SETS[source["kind"]], root)
    return ""


def _check_published(published: PublishedSet, root: Path) -> None:
    """Raise an error if a set certainly can't be read from this root or downloaded to it."""
    try:
        if not root.is_dir() and not root.is_relative_to(RESULTS):
            raise NotInDataRootError(
                f"{root} is not a folder. To have the data sets downloaded to it, make it first."
            )
        refuse_unreadable(published, root)
    except OSError as error:
        raise NotInDataRootError(
            f"{error.filename} can't be read ({error.strerror}). Make it readable, or set another "
            "data_root."
        ) from error


def _digest(root: Path, source: Mapping[str, Any]) -> str:
    train, test = training_and_test(
        root, source["path"], source["classes"], source.get("follow_links", False)
    )
    known = [
        f"{path.relative_to(root / source['path'])} {found.st_size} {found.st_mtime_ns}"
        for classes in (test, train)
        for paths in classes.values()
        for path in paths
        for found in [path.stat()]
    ]
    return hashlib.sha256("".join(known).encode()).hexdigest()[:12]
