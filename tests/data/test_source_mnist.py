"""MNIST, from small idx files whose checksums stand in for the real ones."""

import gzip
import hashlib
import struct
from pathlib import Path

import numpy as np
import pytest

from flatlas.data.sources import load_source, mnist
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import Mnist

SPEC = Mnist(kind="mnist")
ARRAYS = {
    "train-images-idx3-ubyte": np.arange(120, dtype=np.uint8).reshape(6, 4, 5),
    "train-labels-idx1-ubyte": np.array([3, 1, 0, 2, 3, 1], dtype=np.uint8),
    "t10k-images-idx3-ubyte": np.arange(250, 190, -1, dtype=np.uint8).reshape(3, 4, 5),
    "t10k-labels-idx1-ubyte": np.array([2, 0, 1], dtype=np.uint8),
}


def idx(array):
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.tobytes()


RAW = {name: idx(array) for name, array in ARRAYS.items()}
ARCHIVES = {f"{name}.gz": gzip.compress(content, mtime=0) for name, content in RAW.items()}


def files_below(root):
    return {path.name: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def md5(content):
    return hashlib.md5(content).hexdigest()


def torchvision_mnist(published, failure=None):
    """A stand-in for torchvision's class, which lays out `published` and then may fail."""

    class Stub:
        __name__ = "MNIST"

        def __init__(self, root, download):
            fill(Path(root), published)
            if failure:
                raise failure

    return Stub


def fill(root, files):
    folder = root / "MNIST" / "raw"
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """Small checksums; a download fails unless a test says otherwise."""
    checksums = {name: md5(content) for name, content in RAW.items()}
    monkeypatch.setattr(mnist, "CHECKSUMS", checksums)
    monkeypatch.setattr(mnist, "MNIST", torchvision_mnist({}, RuntimeError("no route\nto host")))


def packed(by):
    return {f"{name}.gz": by(content) for name, content in RAW.items()}


FORMS = {
    "raw": RAW,
    "gz": ARCHIVES,
    "mixed": {**dict(list(RAW.items())[:2]), **dict(list(ARCHIVES.items())[2:])},
    # An archive counts by its content.
    "level and time": packed(lambda content: gzip.compress(content, compresslevel=1, mtime=7)),
    "two parts": packed(lambda content: gzip.compress(content[:9]) + gzip.compress(content[9:])),
}


@pytest.mark.parametrize("files", FORMS.values(), ids=FORMS)
def test_reads_any_form(tmp_path, files):
    fill(tmp_path, files)
    images = mnist.load(SPEC, tmp_path)
    for found, expected in zip(vars(images).values(), ARRAYS.values(), strict=True):
        np.testing.assert_array_equal(found, expected[:, None] if expected.ndim > 1 else expected)
    assert images.train_labels.dtype == images.test_labels.dtype == np.int64


@pytest.mark.parametrize("kept", [slice(-7), slice(-1)], ids=["truncated", "altered"])
@pytest.mark.parametrize("files", [RAW, ARCHIVES], ids=["raw", "gz"])
@pytest.mark.parametrize("number", range(4))
def test_a_harmed_file_is_refused(tmp_path, files, kept, number):
    name = list(files)[number]
    harmed = files[name][kept] + (b"" if kept == slice(-7) else bytes([files[name][-1] ^ 1]))
    fill(tmp_path, {**files, name: harmed})
    with pytest.raises(FlatlasError) as error:
        mnist.load(SPEC, tmp_path)
    path = str(tmp_path / "MNIST" / "raw" / name)
    sums = (md5(harmed), md5(files[name])) if files is RAW else ()
    for part in (path, "truncated or altered", "Delete it", *sums):
        assert part in str(error.value)


def test_an_archive_of_other_content_is_refused(tmp_path):
    name = "t10k-labels-idx1-ubyte"
    other = RAW[name][:-1] + b"\7"
    fill(tmp_path, {**ARCHIVES, f"{name}.gz": gzip.compress(other)})
    with pytest.raises(FlatlasError, match=f"{md5(other)}, expected {md5(RAW[name])}"):
        mnist.load(SPEC, tmp_path)


def test_a_failed_download_leaves_nothing_and_names_the_setting(tmp_path, monkeypatch):
    root = tmp_path / "absent"
    begun = {"train-images-idx3-ubyte": RAW["train-images-idx3-ubyte"][:50]}
    monkeypatch.setattr(mnist, "MNIST", torchvision_mnist(begun, OSError("connection reset")))
    with pytest.raises(FlatlasError) as error:
        load_source(SPEC, root, "--config", lambda *steps, **facts: None)
    setting = f"data_root is {root}, from --config."
    for part in ("connection reset", str(root), setting, "t10k-labels-idx1-ubyte"):
        assert part in str(error.value)
    assert not root.exists()


def test_a_failed_download_keeps_existing_files(tmp_path):
    fill(tmp_path, dict(list(RAW.items())[:3]))
    before = files_below(tmp_path)
    with pytest.raises(FlatlasError, match=r"lacks t10k-labels-idx1-ubyte, .*\(no route to host\)"):
        mnist.load(SPEC, tmp_path)
    assert files_below(tmp_path) == before


def test_only_missing_files_are_downloaded(tmp_path, monkeypatch):
    there = dict(list(ARCHIVES.items())[:1])
    fill(tmp_path, there)
    monkeypatch.setattr(mnist, "MNIST", torchvision_mnist(RAW))
    images = mnist.load(SPEC, tmp_path)
    np.testing.assert_array_equal(images.test_labels, ARRAYS["t10k-labels-idx1-ubyte"])
    assert files_below(tmp_path) == {**there, **dict(list(RAW.items())[1:])}


def test_an_incomplete_download_is_refused(tmp_path, monkeypatch):
    """A truncated file is refused each time; of a download without a file only whole files stay."""
    for published, reason in (
        (dict(list(RAW.items())[:3]), "download failed"),
        ({**RAW, "train-images-idx3-ubyte": RAW["train-images-idx3-ubyte"][:-1]}, "truncated"),
    ):
        root = tmp_path / str(len(published))
        monkeypatch.setattr(mnist, "MNIST", torchvision_mnist(published))
        for _ in range(2):
            with pytest.raises(FlatlasError, match=reason):
                mnist.load(SPEC, root)
        assert files_below(root).items() <= published.items()
