"""The files of a folder of images: those whose changes the plan notices, and those that are read.

The module stands outside `plan`, so that a change reads the images again (plan/fingerprint.py).
"""

import os
from pathlib import Path

from flatlas.errors import FlatlasError

ENDINGS = (".jpeg", ".jpg", ".png")


def images_by_class(folder: Path, part: str, follow_links: bool) -> dict[str, list[Path]]:
    """The images of each class in `<folder>/<part>/<class>/`, classes and files by name.

    Nothing else in the folder is looked at, and no file is opened. A link that leads out of the
    folder is an error unless `follow_links`.
    """
    root = None if follow_links else os.path.realpath(folder)
    _refuse_outside(folder / part, root)
    found: dict[str, list[Path]] = {}
    for entry in _by_name(folder / part):
        path = Path(entry.path)
        if os.path.isdir(path):
            _refuse_outside(path, root)
            found[entry.name] = _images(path, root)
    return found


def _images(folder: Path, root: str | None) -> list[Path]:
    """The images of one class."""
    images = []
    for entry in _by_name(folder):
        path = Path(entry.path)
        if path.suffix.lower() not in ENDINGS:
            continue
        if not os.path.isfile(path):
            raise FlatlasError(
                f"{path} is named like an image, but it is a folder, a pipe, a socket, a device or "
                "a broken link. Rename it, or delete it."
            )
        if entry.is_symlink():
            _refuse_outside(path, root)
        images.append(path)
    return images


def _by_name(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _refuse_outside(path: Path, root: str | None) -> None:
    """Raise an error if a path is in another place than `root`."""
    target = os.path.realpath(path)
    if root is not None and not Path(target).is_relative_to(root):
        raise FlatlasError(
            f"{path} is a link to {target}, outside the folder {root} of the images. Say "
            "follow_links: true in the source to allow such links, or put the images there."
        )
