"""CIFAR-10 and CIFAR-100, from small batches whose checksums stand in for the real ones."""

import hashlib
import pickle
from pathlib import Path

import numpy as np
import pytest
from torchvision import datasets

from flatlas.data.sources import cifar10, cifar100
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import Cifar10, Cifar100

# The module, its spec, torchvision's class and the prefix of its keys.
KINDS = {
    "cifar10": (cifar10, Cifar10(kind="cifar10"), "CIFAR10", ""),
    "cifar100": (cifar100, Cifar100(kind="cifar100"), "CIFAR100", "fine_"),
}


def md5(content):
    return hashlib.md5(content).hexdigest()


class Set:
    """A small set on disk, and the module that reads it."""

    def __init__(self, kind, root, monkeypatch):
        self.module, self.spec, published, prefix = KINDS[kind]
        rng = np.random.default_rng(2)
        self.pixels = rng.integers(0, 256, (3, 4, 3072), dtype=np.uint8)
        self.labels = rng.integers(0, 10, (3, 4))
        files = {
            name: pickle.dumps({"data": data, f"{prefix}labels": labels.tolist()})
            for name, data, labels in zip(
                ("first", "second", "tested"), self.pixels, self.labels, strict=True
            )
        }
        names_key = f"{prefix}label_names"
        files["names"] = pickle.dumps({names_key: ["a", "b"]})
        sums = [[name, md5(content)] for name, content in files.items()]
        meta = {"filename": "names", "key": names_key, "md5": sums[3][1]}
        lists = {"train_list": sums[:2], "test_list": sums[2:3], "meta": meta}
        self.root, self.files = root, files
        self.dataset = type(published, (getattr(datasets, published),), lists)
        self.folder = root / self.dataset.base_folder
        monkeypatch.setattr(self.module, published, self.dataset)
        monkeypatch.setattr(self.dataset, "download", self.fail)

    def fail(self, *_):
        raise RuntimeError("no route to host")

    def publish(self, monkeypatch):
        """Let torchvision's download write the files."""
        monkeypatch.setattr(self.dataset, "download", lambda dataset: self.fill(dataset.root))

    def fill(self, root):
        folder = Path(root, self.dataset.base_folder)
        folder.mkdir(parents=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)

    def load(self):
        return self.module.load(self.spec, self.root)


@pytest.fixture(params=KINDS)
def small(request, tmp_path, monkeypatch):
    return Set(request.param, tmp_path / "data", monkeypatch)


def assert_right(images, small):
    expected = small.pixels.reshape(12, 3, 32, 32)
    np.testing.assert_array_equal(images.train_images, expected[:8])
    np.testing.assert_array_equal(images.test_images, expected[8:])
    np.testing.assert_array_equal(images.train_labels, small.labels[:2].ravel())
    np.testing.assert_array_equal(images.test_labels, small.labels[2])


def test_a_missing_set_is_downloaded_and_read_channels_first(small, monkeypatch):
    small.publish(monkeypatch)
    assert_right(small.load(), small)
    monkeypatch.setattr(small.dataset, "download", small.fail)
    assert_right(small.load(), small)


@pytest.mark.parametrize("name", ["second", "tested", "names"])
def test_a_truncated_file_is_refused(small, name):
    small.fill(small.root)
    whole = small.files[name]
    (small.folder / name).write_bytes(whole[:-5])
    with pytest.raises(FlatlasError) as error:
        small.load()
    for part in (str(small.folder / name), "Delete it", md5(whole), md5(whole[:-5])):
        assert part in str(error.value)


class Mischief:
    """Unpickling it makes a directory."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.mkdir, (self.path,))


def test_an_altered_file_is_never_unpickled(small, tmp_path):
    small.fill(small.root)
    made = tmp_path / "made"
    (small.folder / "first").write_bytes(pickle.dumps(Mischief(made)))
    with pytest.raises(FlatlasError, match="truncated or altered"):
        small.load()
    assert not made.exists()
