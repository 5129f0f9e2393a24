"""MNIST, from small idx files whose checksums stand in for the real ones."""

import gzip
import hashlib
import struct
from pathlib import Path

import numpy as np
import pytest

from flatlas.data.sources import mnist
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


def md5(content):
    return hashlib.md5(content).hexdigest()


def torchvision_mnist(published, failure=None):
    """A stand-in for torchvision's class, which lays out `published` and then may fail."""

    class Stub:
        __name__ = "MNIST"
        resources = tuple((name, md5(content)) for name, content in ARCHIVES.items())

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
    monkeypatch.setattr(mnist, "RAW_CHECKSUMS", checksums)
    monkeypatch.setattr(mnist, "MNIST", torchvision_mnist({}, RuntimeError("no route\nto host")))


@pytest.mark.parametrize(
    "files",
    [RAW, ARCHIVES, {**dict(list(RAW.items())[:2]), **dict(list(ARCHIVES.items())[2:])}],
    ids=["raw", "gz", "mixed"],
)
def test_reads_either_form(tmp_path, files):
    fill(tmp_path, files)
    images = mnist.load(SPEC, tmp_path)
    np.testing.assert_array_equal(images.train_images[:, 0], ARRAYS["train-images-idx3-ubyte"])
    np.testing.assert_array_equal(images.train_labels, ARRAYS["train-labels-idx1-ubyte"])
    np.testing.assert_array_equal(images.test_images[:, 0], ARRAYS["t10k-images-idx3-ubyte"])
    np.testing.assert_array_equal(images.test_labels, ARRAYS["t10k-labels-idx1-ubyte"])
    assert images.train_images.shape == (6, 1, 4, 5)
    assert images.train_labels.dtype == images.test_labels.dtype == np.int64


def truncated(content):
    return content[:-7]


def altered(content):
    return content[:-3] + bytes([content[-3] ^ 1]) + content[-2:]


@pytest.mark.parametrize("harm", [truncated, altered])
@pytest.mark.parametrize("files", [RAW, ARCHIVES], ids=["raw", "gz"])
@pytest.mark.parametrize("number", range(4))
def test_harmed_file_is_refused(tmp_path, files, harm, number):
    name = list(files)[number]
    harmed = harm(files[name])
    fill(tmp_path, {**files, name: harmed})
    with pytest.raises(FlatlasError) as error:
        mnist.load(SPEC, tmp_path)
    said = str(error.value)
    assert str(tmp_path / "MNIST" / "raw" / name) in said
    assert md5(harmed) in said and md5(files[name]) in said
    assert "Delete it" in said


def test_failed_download_says_what_to_do_and_leaves_nothing(tmp_path, monkeypatch):
    root = tmp_path / "absent"
    begun = {"train-images-idx3-ubyte": RAW["train-images-idx3-ubyte"][:50]}
    monkeypatch.setattr(mnist, "MNIST", torchvision_mnist(begun, OSError("connection reset")))
    with pytest.raises(FlatlasError, match="connection reset") as error:
        mnist.load(SPEC, root)
    assert str(root) in str(error.value)
    assert "data_root in config/config.yaml" in str(error.value)
    assert "t10k-labels-idx1-ubyte" in str(error.value)
    assert not root.exists()


def test_failed_download_keeps_what_was_there(tmp_path, files_below):
    fill(tmp_path, dict(list(RAW.items())[:3]))
    before = files_below(tmp_path)
    with pytest.raises(FlatlasError, match=r"lacks t10k-labels-idx1-ubyte, .*\(no route to host\)"):
        mnist.load(SPEC, tmp_path)
    assert files_below(tmp_path) == before


def test_downloads_only_what_is_missing(tmp_path, monkeypatch, files_below):
    there = dict(list(ARCHIVES.items())[:1])
    fill(tmp_path, there)
    monkeypatch.setattr(mnist, "MNIST", torchvision_mnist(RAW))
    images = mnist.load(SPEC, tmp_path)
    np.testing.assert_array_equal(images.test_labels, ARRAYS["t10k-labels-idx1-ubyte"])
    expected = {**there, **dict(list(RAW.items())[1:])}
    found = {Path(name).name: content for name, content in files_below(tmp_path).items()}
    assert found == expected


def test_partial_download_never_passes_for_whole(tmp_path, monkeypatch):
    partial = {**RAW, "train-images-idx3-ubyte": RAW["train-images-idx3-ubyte"][:-1]}
    monkeypatch.setattr(mnist, "MNIST", torchvision_mnist(partial))
    for _ in range(2):
        with pytest.raises(FlatlasError, match="truncated or altered"):
            mnist.load(SPEC, tmp_path)


def test_download_that_lacks_a_file_is_refused(tmp_path, monkeypatch, files_below):
    published = dict(list(RAW.items())[:3])
    monkeypatch.setattr(mnist, "MNIST", torchvision_mnist(published))
    with pytest.raises(FlatlasError, match="download failed"):
        mnist.load(SPEC, tmp_path)
    left = {Path(name).name: content for name, content in files_below(tmp_path).items()}
    assert all(RAW[name] == content for name, content in left.items())
