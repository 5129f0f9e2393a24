"""Images in class folders, as `<path>/train/<class>/*.jpg` and the same under `test/`."""

from pathlib import Path

import numpy as np
from PIL import Image
from PIL.ImageFile import ImageFile

from flatlas.data.images import Images
from flatlas.errors import FlatlasError
from flatlas.image_files import training_and_test
from flatlas.plan.data_specs import Folder

# Images in PIL's other modes (transparency, 16 bits, CMYK) would lose information in 8 bits.
MODES = ("1", "L", "P", "RGB")


def load(spec: Folder, root: Path) -> Images:
    """The images below `root/spec.path`; classes and files are numbered by sorted name."""
    follow = bool(spec.follow_links)
    train, test = training_and_test(root, spec.path, spec.classes, follow)
    return Images(*_read_part(train, spec), *_read_part(test, spec))


def _read_part(files: dict[str, list[Path]], spec: Folder) -> tuple[np.ndarray, np.ndarray]:
    """All images of the training or the test folder, and their labels."""
    labels = np.repeat(np.arange(len(files)), [len(of_class) for of_class in files.values()])
    images = np.empty((len(labels), spec.channels, spec.side, spec.side), dtype=np.uint8)
    for number, path in enumerate(path for of_class in files.values() for path in of_class):
        images[number] = _read_image(path, spec)
    return images, labels


def _read_image(path: Path, spec: Folder) -> np.ndarray:
    """One image as (channel, row, column)."""
    try:
        with Image.open(path, formats=("BMP", "JPEG", "PNG")) as image:
            _check_form(path, image, spec)
            pixels = np.asarray(image.convert("L" if spec.channels == 1 else "RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise FlatlasError(
            f"{path} can't be read as an image ({error}). Replace it, or delete it."
        ) from error
    return pixels.reshape(spec.side, spec.side, spec.channels).transpose(2, 0, 1)


def _check_form(path: Path, image: ImageFile, spec: Folder) -> None:
    width, height = image.size
    if (width, height) != (spec.side, spec.side):
        raise FlatlasError(
            f"{path} is {width} x {height}, but the source has side: {spec.side}. Scale all images "
            "to the same square size, and set side to it."
        )
    # Pillow gives colours of 16 bits the mode RGB, and drops their low bytes.
    deep = any(str(tile.args).endswith(";16B") for tile in image.tile)
    bits = " of 16 bits a channel" if deep else ""
    # A palette, or a PNG without an alpha channel, can have transparent colours, too.
    transparent = " with transparency" if "transparency" in image.info else ""
    if image.mode not in MODES or deep or transparent:
        raise FlatlasError(
            f"{path} has PIL mode {image.mode}{bits}{transparent}. Allowed: {', '.join(MODES)} "
            "(8 bits a channel, no transparency). Convert it."
        )
