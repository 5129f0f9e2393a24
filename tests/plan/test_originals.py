"""A folder of images is known by the names, sizes and times of its files before it is read."""

import os
import shutil

import pytest

from flatlas.plan.originals import originals

TIME = 10**18
FOLDER = {"kind": "folder", "path": "pets", "classes": 2}


def of(data_root, **more):
    return originals(FOLDER | more, str(data_root))


@pytest.fixture
def data_root(tmp_path):
    """Three images in a folder `pets`."""
    for name in ("train/cat/1.png", "train/dog/1.png", "test/cat/1.png"):
        path = tmp_path / "pets" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"an image")
        os.utime(path, ns=(TIME, TIME))
    return tmp_path


@pytest.mark.parametrize("kind", ["mnist", "cifar10", "cifar100", "digits", "textures"])
def test_sources_that_cannot_change_have_no_originals(kind, data_root):
    assert originals({"kind": kind}, str(data_root)) == ""


def test_an_unchanged_folder_is_the_same_in_any_place(data_root, tmp_path_factory, monkeypatch):
    moved = shutil.copytree(data_root, tmp_path_factory.mktemp("elsewhere") / "data")
    monkeypatch.setenv("HOME", str(data_root))
    assert of(moved) == of(data_root) == of("~")
    assert len(of(data_root)) == 12


CHANGES = {
    "added": lambda image: image.with_name("2.png").write_bytes(b"an image"),
    "grown": lambda image: (image.write_bytes(b"another image"), os.utime(image, ns=(TIME, TIME))),
    "touched": lambda image: os.utime(image, ns=(TIME, TIME + 1)),
    "renamed": lambda image: image.rename(image.with_name("2.png")),
    "deleted": os.remove,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_folder_is_another(data_root, change):
    before = of(data_root)
    CHANGES[change](data_root / "pets" / "train" / "dog" / "1.png")
    assert of(data_root) != before


def test_images_behind_links_to_folders_are_seen(data_root):
    images = data_root / "pets" / "train" / "dog"
    elsewhere = images.rename(data_root / "dogs")
    images.symlink_to(elsewhere, target_is_directory=True)
    before = of(data_root, follow_links=True)
    CHANGES["touched"](elsewhere / "1.png")
    assert of(data_root, follow_links=True) != before


def test_a_folder_without_files_has_no_originals(data_root):
    assert of(data_root / "elsewhere") == ""
