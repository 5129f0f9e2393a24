"""The files in a folder of images: the plan notices their changes, and a job reads them.

The module is outside `plan`, so that its fingerprint belongs to the job that reads the images
(plan/fingerprint.py).
"""

import os
from pathlib import Path

from flatlas.data_root import NotInDataRootError, hint
from flatlas.errors import FlatlasError

ENDINGS = (".bmp", ".jpeg", ".jpg", ".png")
# Images of other kinds are an error: skipping them would silently change a class.
UNREAD = (".avif", ".gif", ".heic", ".jfif", ".jp2", ".tif", ".tiff", ".webp")


def training_and_test(
    root: Path, path: str, classes: int, follow_links: bool
) -> tuple[dict[str, list[Path]], dict[str, list[Path]]]:
    """The images of each class in `root/path`, for training and for testing, by name."""
    train, test = (_part(root, path, part, classes, follow_links) for part in ("train", "test"))
    if train.keys() != test.keys():
        differing = ", ".join(sorted(train.keys() ^ test.keys()))
        raise FlatlasError(
            f"{root / path}: train and test must have the same class folders; only one of them "
            f"has {differing}"
        )
    return train, test


def _part(
    root: Path, path: str, name: str, classes: int, follow_links: bool
) -> dict[str, list[Path]]:
    """The images of each class, for training or for testing."""
    part = root / path / name
    try:
        found = _by_class(root / path, name, follow_links)
    except (FileNotFoundError, NotADirectoryError) as error:
        if Path(path).name in ("train", "test") and (root / path).is_dir():
            raise FlatlasError(
                f"{part} is not a folder: the path '{path}' is one level too deep. Set "
                f"path: {Path(path).parent} in the source."
            ) from error
        raise NotInDataRootError(
            f"{part} is not a folder, but images of the source with the path '{path}' belong "
            f"there. Put them there, or correct the path or data_root.{hint(root, path)}"
        ) from error
    except OSError as error:
        raise FlatlasError(
            f"{error.filename} can't be read ({error.strerror}). Make it readable."
        ) from error
    if len(found) != classes:
        raise FlatlasError(
            f"{part} has {len(found)} class folders ({', '.join(found) or 'none'}), but the "
            f"source says classes: {classes}. Make the two agree."
        )
    empty = [label for label, files in found.items() if not files]
    if empty:
        raise FlatlasError(
            f"{part / empty[0]} has no image ({', '.join(ENDINGS)}). Put some there, or delete "
            "the folder and lower the source's number of classes."
        )
    return found


def _by_class(folder: Path, part: str, follow_links: bool) -> dict[str, list[Path]]:
    """The images of each class in `<folder>/<part>/<class>/`, classes and files by name.

    Everything else in the folder is ignored, and no file is opened. Names that begin with a dot are
    skipped: systems and editors add them. A link that leads out of the folder is an error unless
    `follow_links`.
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
        if path.suffix.lower() in UNREAD:
            raise FlatlasError(
                f"{path} is an image in a format that is not read. Allowed: {', '.join(ENDINGS)}. "
                "Convert it, or move it out of the folder."
            )
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
        visible = (entry for entry in entries if not entry.name.startswith("."))
        found = sorted(visible, key=lambda entry: entry.name)
    for entry in found:
        try:
            entry.name.encode()
        except UnicodeEncodeError as error:
            raise FlatlasError(
                f"{folder} has a file or folder whose name, {os.fsencode(entry.name)!r}, is not "
                "UTF-8. Rename it."
            ) from error
    return found


def _refuse_outside(path: Path, root: str | None) -> None:
    """Raise an error if a path is in another place than `root`."""
    target = os.path.realpath(path)
    if root is not None and not Path(target).is_relative_to(root):
        raise FlatlasError(
            f"{path} is a link to {target}, outside the folder {root} of the images. "
            "To allow such links, set follow_links: true in the source; or put the images into "
            "that folder."
        )
