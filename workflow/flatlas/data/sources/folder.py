"""Images in class folders, as `<path>/train/<class>/*.jpg` and the same under `test/`."""

from pathlib import Path

import numpy as np
from PIL import Image

from flatlas.data.images import Images
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import Folder

SUFFIXES = {".jpg", ".jpeg", ".png"}
# Other formats that PIL reads (transparency, 16 bits, CMYK) would lose information in 8 bits.
MODES = ("1", "L", "P", "RGB")


def load(spec: Folder, root: Path) -> Images:
    """The images below `root/spec.path`; classes and files are numbered by sorted name."""
    train, test = root / spec.path / "train", root / spec.path / "test"
    classes = _classes(train, spec)
    tested = _classes(test, spec)
    if tested != classes:
        differing = ", ".join(sorted(set(classes) ^ set(tested)))
        raise FlatlasError(
            f"{train} and {test} must have the same class folders; only one of them has {differing}"
        )
    train_images, train_labels = _read_part(train, classes, spec)
    test_images, test_labels = _read_part(test, classes, spec)
    return Images(train_images, train_labels, test_images, test_labels)


def _classes(part: Path, spec: Folder) -> list[str]:
    """The sorted names of the class folders."""
    if not part.is_dir():
        raise FlatlasError(
            f"{part} is no directory. It is data_root of the configuration, then the source's "
            f"path {spec.path!r}, then {part.name!r}: mend one of them, or put the images there."
        )
    classes = sorted(entry.name for entry in part.iterdir() if entry.is_dir())
    if len(classes) != spec.classes:
        raise FlatlasError(
            f"{part} has {len(classes)} class folders ({', '.join(classes) or 'none'}), but the "
            f"source says classes: {spec.classes}. Make the two agree."
        )
    return classes


def _read_part(part: Path, classes: list[str], spec: Folder) -> tuple[np.ndarray, np.ndarray]:
    """All images of the training or the test folder, and their labels."""
    files = [_image_files(part / name) for name in classes]
    labels = np.repeat(np.arange(len(classes)), [len(of_class) for of_class in files])
    images = np.empty((len(labels), spec.channels, spec.side, spec.side), dtype=np.uint8)
    for number, path in enumerate(path for of_class in files for path in of_class):
        images[number] = _read_image(path, spec)
    return images, labels


def _image_files(folder: Path) -> list[Path]:
    images = (path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    files = sorted(images, key=lambda path: path.name)
    if not files:
        raise FlatlasError(
            f"{folder} has no image ({', '.join(sorted(SUFFIXES))}). Put some there, or delete "
            "the folder and lower the source's number of classes."
        )
    return files


def _read_image(path: Path, spec: Folder) -> np.ndarray:
    """One image as (channel, row, column)."""
    try:
        with Image.open(path, formats=("JPEG", "PNG")) as image:
            _check_form(path, image, spec)
            pixels = np.asarray(image.convert("L" if spec.channels == 1 else "RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise FlatlasError(
            f"{path} can't be read as an image ({error}). Replace it, or delete it."
        ) from error
    return pixels.reshape(spec.side, spec.side, spec.channels).transpose(2, 0, 1)


def _check_form(path: Path, image: Image.Image, spec: Folder) -> None:
    width, height = image.size
    if (width, height) != (spec.side, spec.side):
        raise FlatlasError(
            f"{path} is {width} x {height}, but the source says side: {spec.side}. "
            "Scale the images to one square size, and say which."
        )
    if image.mode not in MODES:
        raise FlatlasError(
            f"{path} has PIL mode {image.mode}. Allowed: {', '.join(MODES)}, which are 8 bits "
            "a channel without transparency. Convert it."
        )
