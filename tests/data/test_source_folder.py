"""Images in class folders."""

import re
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from flatlas.data.sources import folder
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import Folder


def spec(**changed):
    return Folder(**{"kind": "folder", "path": "pets", "classes": 2, "side": 8, **changed})


def draw(path, mode="RGB", size=(8, 8), seed=0):
    bands = {"L": (), "RGB": (3,), "RGBA": (4,)}[mode]
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], *bands), np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    return pixels


@pytest.fixture
def pets(tmp_path):
    """Two classes, made in another order than that of their names."""
    base = tmp_path / "pets"
    names = ["train/dog/b.png", "train/cat/z.png", "train/dog/a.png", "train/cat/y.JPEG"]
    names += ["test/dog/2.jpg", "test/cat/1.png"]
    return {name: draw(base / name, seed=seed) for seed, name in enumerate(names)}


def test_images_are_in_the_order_of_their_names(tmp_path, pets):
    images = folder.load(spec(), tmp_path)
    assert images.train_labels.tolist() == [0, 0, 1, 1]
    assert images.test_labels.tolist() == [0, 1]
    for number, name in ((1, "train/cat/z.png"), (2, "train/dog/a.png"), (3, "train/dog/b.png")):
        np.testing.assert_array_equal(images.train_images[number], pets[name].transpose(2, 0, 1))
    np.testing.assert_array_equal(images.test_images[0], pets["test/cat/1.png"].transpose(2, 0, 1))


def test_a_jpeg_is_near_its_original(tmp_path):
    smooth = np.linspace(0, 255, 64).reshape(8, 8, 1).repeat(3, axis=2).astype(np.uint8)
    for name in ("train/a", "test/a"):
        (tmp_path / "pets" / name).mkdir(parents=True)
        Image.fromarray(smooth).save(tmp_path / "pets" / name / "0.jpg", quality=95)
    images = folder.load(spec(classes=1), tmp_path)
    off = images.train_images[0].transpose(1, 2, 0).astype(int) - smooth
    assert np.abs(off).max() < 20
    np.testing.assert_array_equal(images.train_images, images.test_images)


@pytest.mark.parametrize(("mode", "clear"), [("P", 0), ("RGB", (1, 2, 3)), ("L", 5)])
def test_a_transparent_colour_is_refused(tmp_path, pets, mode, clear):
    path = tmp_path / "pets/train/cat/z.png"
    with Image.open(path) as image:
        image.convert(mode).save(path, transparency=clear)
    assert f"{path} has PIL mode {mode} with transparency" in refusal(tmp_path)


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_a_bitmap_is_its_pixels(tmp_path, pets, mode):
    pixels = draw(tmp_path / "pets/train/cat/x.BMP", mode, seed=9)
    expected = pixels.transpose(2, 0, 1) if mode == "RGB" else pixels
    read = folder.load(spec(channels=3 if mode == "RGB" else 1), tmp_path).train_images[0]
    np.testing.assert_array_equal(read.squeeze(), expected)


@pytest.mark.parametrize("name", ["one.webp", "one.TIF", "one.gif"])
def test_an_image_that_is_not_read_is_refused(tmp_path, pets, name):
    path = tmp_path / "pets/test/dog" / name
    path.write_bytes(b"an image")
    message = refusal(tmp_path)
    assert str(path) in message and ".bmp, .jpeg, .jpg, .png" in message


def test_one_channel_is_luma(tmp_path, pets):
    grey = draw(tmp_path / "pets" / "train" / "cat" / "x.png", mode="L", seed=9)
    images = folder.load(spec(channels=1), tmp_path)
    np.testing.assert_array_equal(images.train_images[0, 0], grey)
    luma = pets["train/dog/a.png"] @ np.array([0.299, 0.587, 0.114])
    assert np.abs(images.train_images[3, 0] - luma).max() <= 1


def refusal(root, **changed):
    with pytest.raises(FlatlasError) as error:
        folder.load(spec(**changed), root)
    return str(error.value)


def test_a_missing_directory_is_named(tmp_path, pets):
    message = refusal(tmp_path, path="elsewhere")
    assert str(tmp_path / "elsewhere" / "train") in message and "data_root" in message


@pytest.mark.parametrize("classes", [1, 3])
def test_a_wrong_number_of_classes_is_refused(tmp_path, pets, classes):
    message = refusal(tmp_path, classes=classes)
    assert "2 class folders (cat, dog)" in message and f"classes: {classes}" in message


def test_other_classes_for_testing_are_named(tmp_path, pets):
    (tmp_path / "pets" / "test" / "cat").rename(tmp_path / "pets" / "test" / "cow")
    assert "cat, cow" in refusal(tmp_path)


@pytest.mark.parametrize("part", ["train", "test"])
def test_a_class_without_images_is_named(tmp_path, pets, part):
    emptied = tmp_path / "pets" / part / "dog"
    for path in emptied.iterdir():
        path.rename(path.with_suffix(".bak"))
    assert f"{emptied} has no image" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("form", "reason"),
    [({"size": (9, 8)}, "is 9 x 8, .* side: 8"), ({"mode": "RGBA"}, "has PIL mode RGBA")],
)
def test_an_image_of_another_form_is_named(tmp_path, pets, form, reason):
    draw(tmp_path / "pets" / "test" / "dog" / "other.png", **form)
    assert re.search(f"other.png {reason}", refusal(tmp_path))


@pytest.mark.parametrize("name", ["train/cat/y.JPEG", "train/dog/b.png", "test/cat/c.bmp"])
@pytest.mark.parametrize("kept", [0.0, 0.2, 0.5, 0.8])
def test_a_truncated_image_is_named(tmp_path, pets, name, kept):
    path = tmp_path / "pets" / name
    draw(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole))])
    assert f"{path} can't be read as an image" in refusal(tmp_path)


def test_an_altered_png_is_named(tmp_path, pets):
    """Wherever a byte is altered, the image is refused or reads as it was (a PNG has checksums)."""
    path = tmp_path / "pets" / "train" / "dog" / "b.png"
    whole = path.read_bytes()
    right = folder.load(spec(), tmp_path).train_images
    refused, places = 0, range(0, len(whole), 5)
    for place in places:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            read = folder.load(spec(), tmp_path).train_images
        except FlatlasError as error:
            assert "b.png" in str(error)
            refused += 1
        else:
            np.testing.assert_array_equal(read, right)
    assert refused > 0.8 * len(places)


def png(*chunks):
    content = b"\x89PNG\r\n\x1a\n"
    for name, data in chunks:
        checksum = struct.pack(">I", zlib.crc32(name + data))
        content += struct.pack(">I", len(data)) + name + data + checksum
    return content


def header(width, height, bits=8):
    return b"IHDR", struct.pack(">IIBBBBB", width, height, bits, 2, 0, 0, 0)


MALFORMED = {
    "short header": png((b"IHDR", bytes(5))),
    "bomb": png(header(100_000, 100_000), (b"IDAT", b"x\x9c")),
    "text": b"no image",
    "no pixels": png(header(8, 8), (b"IEND", b"")),
    "chunk without a name": png(header(8, 8), (b"IDAT", b"x\x9c"), (b"\n\n\n\n", b"")),
}


@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_image_is_named(tmp_path, pets, content):
    """Pillow has a different exception for each of these."""
    path = tmp_path / "pets" / "train" / "dog" / "b.png"
    path.write_bytes(content)
    assert f"{path} can't be read as an image" in refusal(tmp_path)


def test_colours_of_16_bits_are_refused(tmp_path, pets):
    """Pillow has no mode for them: it calls them RGB, and drops their low bytes."""
    path = tmp_path / "pets" / "train" / "dog" / "b.png"
    for bits in (8, 16):
        rows = zlib.compress(8 * (b"\0" + bytes(8 * 3 * bits // 8)))
        path.write_bytes(png(header(8, 8, bits), (b"IDAT", rows), (b"IEND", b"")))
        if bits == 8:
            assert not folder.load(spec(), tmp_path).train_images[3].any()
    message = refusal(tmp_path)
    assert str(path) in message and "16 bits a channel" in message


def test_a_path_to_one_of_the_parts_is_one_level_too_deep(tmp_path, pets):
    with pytest.raises(FlatlasError, match=r"Set path: pets in the source\.$"):
        folder.load(spec(path="pets/train"), tmp_path)
