"""What is known of a folder of images before it is read: names, sizes and times of its files."""

import os
import shutil

import pytest

from flatlas.plan.originals import originals

FOLDER = {"kind": "folder", "path": "pets", "classes": 2}


def of(settings, data_root):
    return originals(settings, str(data_root))


@pytest.fixture
def data_root(tmp_path):
    """Three images in a folder `pets`."""
    for name in ("train/cat/1.png", "train/dog/1.png", "test/cat/1.png"):
        path = tmp_path / "pets" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"an image")
        os.utime(path, ns=(10**18, 10**18))
    return tmp_path


@pytest.mark.parametrize("kind", ["mnist", "cifar10", "cifar100", "digits", "textures"])
def test_sources_that_cannot_change_have_no_originals(kind, data_root):
    assert of({"kind": kind}, data_root) == ""


def test_a_folder_that_nobody_touched_is_the_same_wherever_it_lies(data_root, tmp_path_factory):
    moved = shutil.copytree(data_root, tmp_path_factory.mktemp("elsewhere") / "data")
    assert of(FOLDER, moved) == of(FOLDER, data_root)
    assert len(of(FOLDER, data_root)) == 12


def test_a_home_folder_may_be_written_short(data_root, monkeypatch):
    monkeypatch.setenv("HOME", str(data_root))
    assert of(FOLDER, "~") == of(FOLDER, data_root)


def add(image):
    (image.parent / "2.png").write_bytes(b"an image")


def grow(image):
    image.write_bytes(b"another image")
    os.utime(image, ns=(10**18, 10**18))


def touch(image):
    os.utime(image, ns=(10**18, 10**18 + 1))


def rename(image):
    image.rename(image.parent / "2.png")


@pytest.mark.parametrize("change", [add, grow, touch, rename, os.remove])
def test_a_changed_folder_is_another(data_root, change):
    before = of(FOLDER, data_root)
    change(data_root / "pets" / "train" / "dog" / "1.png")
    assert of(FOLDER, data_root) != before


def test_images_behind_links_to_folders_are_seen(data_root):
    images = data_root / "pets" / "train" / "dog"
    elsewhere = images.rename(data_root / "dogs")
    images.symlink_to(elsewhere, target_is_directory=True)
    before = of(FOLDER, data_root)
    touch(elsewhere / "1.png")
    assert of(FOLDER, data_root) != before


def test_of_a_folder_without_files_nothing_is_known(data_root):
    assert of(FOLDER, data_root / "elsewhere") == ""
