"""Originals are checked before they are read: what changed, and what cannot be read."""

import gzip
import os
import shutil

import pytest

from flatlas.errors import FlatlasError
from flatlas.plan.originals import originals

TIME = 10**18
FOLDER = {"kind": "folder", "path": "pets", "classes": 2}


def of(data_root, **more):
    return originals(FOLDER | more, str(data_root), "a file")


@pytest.fixture
def data_root(tmp_path):
    """Images in a folder `pets`."""
    for name in (
        "train/cat/1.png",
        "train/dog/1.png",
        "test/cat/1.png",
        "test/dog/1.png",
        "train/dog/0.png",
    ):
        path = tmp_path / "pets" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"an image")
        os.utime(path, ns=(TIME, TIME))
    return tmp_path


@pytest.mark.parametrize("kind", ["mnist", "cifar10", "cifar100", "digits", "textures"])
def test_sources_that_cannot_change_have_no_digest(kind, data_root):
    assert originals({"kind": kind}, str(data_root), "a file") == ""


def test_a_moved_folder_has_the_same_digest(data_root, tmp_path_factory, monkeypatch):
    moved = shutil.copytree(data_root, tmp_path_factory.mktemp("elsewhere") / "data")
    monkeypatch.setenv("HOME", str(data_root))
    assert of(moved) == of(data_root) == of("~")
    assert len(of(data_root)) == 12


CHANGES = {
    "added": lambda image: image.with_name("2.png").write_bytes(b"an image"),
    "grown": lambda image: (image.write_bytes(b"another image"), os.utime(image, ns=(TIME, TIME))),
    "touched": lambda image: os.utime(image, ns=(TIME, TIME + 1)),
    "renamed": lambda image: image.rename(image.with_name("2.png")),
    "deleted": lambda image: image.with_name("0.png").unlink(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_folder_has_another_digest(data_root, change):
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


MNIST = {"kind": "mnist"}
LABELS, COUNT = "t10k-labels-idx1-ubyte", 10_008


def labels(content, form=LABELS):
    """A data root that has one file of MNIST."""

    def made(root):
        path = root / "MNIST/raw" / form
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        return path

    return made


WHOLE = bytes(COUNT)
PACKED = gzip.compress(WHOLE)
# torchvision downloads missing files, and the job that reads them compares checksums.
READABLE = {
    "nothing": lambda root: None,
    "a file": labels(WHOLE),
    "an archive": labels(PACKED, f"{LABELS}.gz"),
    "another archive": labels(gzip.compress(WHOLE, 1, mtime=3), f"{LABELS}.gz"),
    "an archive in two parts": labels(
        gzip.compress(WHOLE[:100]) + gzip.compress(WHOLE[100:]), f"{LABELS}.gz"
    ),
}
UNREADABLE = {
    "cut": labels(WHOLE[:-1]),
    "empty": labels(b""),
    "a page in place of an archive": labels(b"<html>", f"{LABELS}.gz"),
    "a cut archive": labels(PACKED[:-3], f"{LABELS}.gz"),
    "an empty archive": labels(b"", f"{LABELS}.gz"),
}


@pytest.mark.parametrize("fill", READABLE.values(), ids=READABLE)
def test_a_published_set_that_is_whole_or_missing_is_accepted(tmp_path, fill):
    fill(tmp_path)
    assert originals(MNIST, str(tmp_path), "a file") == ""


@pytest.mark.parametrize("fill", UNREADABLE.values(), ids=UNREADABLE)
def test_a_truncated_published_set_is_refused_before_it_is_read(tmp_path, fill):
    path = fill(tmp_path)
    with pytest.raises(FlatlasError, match=f"^{path} is truncated.* Delete it"):
        originals(MNIST, str(tmp_path), "a file")
    assert originals(MNIST, str(tmp_path), "a file", read=True) == ""


@pytest.mark.parametrize(
    ("kind", "file", "inside"),
    [
        ("mnist", f"MNIST/raw/{LABELS}.gz", ["MNIST", "MNIST/raw"]),
        ("cifar10", "cifar-10-batches-py/test_batch", ["cifar-10-batches-py"]),
        ("folder", "pets/train/dog/1.png", ["pets"]),
    ],
)
def test_a_data_root_inside_the_data_is_refused_with_the_right_one(data_root, kind, file, inside):
    (data_root / file).parent.mkdir(parents=True, exist_ok=True)
    (data_root / file).touch()
    for folder in inside:
        with pytest.raises(FlatlasError) as error:
            originals({**FOLDER, "kind": kind}, str(data_root / folder), "mine.yaml")
        assert f"Set data_root={data_root}," in str(error.value)
        assert f"data_root is {data_root / folder}, from mine.yaml." in str(error.value)


def test_a_data_root_named_like_the_set_inside_it_is_accepted(tmp_path):
    for root in (tmp_path, tmp_path / "MNIST"):
        labels(WHOLE)(root)
        assert originals(MNIST, str(root), "a file") == ""


@pytest.mark.parametrize("spoil", ["elsewhere", "train/dog"])
def test_a_folder_that_cannot_be_read_is_refused_before_a_job_runs(data_root, spoil):
    missing = data_root / "pets" / spoil
    shutil.rmtree(missing, ignore_errors=True)
    more = {"path": f"pets/{spoil}"} if spoil == "elsewhere" else {}
    with pytest.raises(FlatlasError, match=rf"{data_root}/pets/\S* (is not a fold|has 1 class f)"):
        of(data_root, **more)


@pytest.fixture
def closed(tmp_path):
    """A data root that this process may not enter; root becomes another user for the while."""
    root = tmp_path / "data"
    (root / "MNIST/raw").mkdir(parents=True)
    root.chmod(0)
    as_root = os.geteuid() == 0
    if as_root:
        os.seteuid(65534)
    yield root
    if as_root:
        os.seteuid(0)
    root.chmod(0o700)


@pytest.mark.parametrize("kind", ["mnist", "cifar10", "folder"])
def test_a_data_root_of_another_user_is_refused(closed, kind):
    with pytest.raises(FlatlasError, match=rf"{closed}\S* can't be read \(Permission denied\)"):
        originals({**FOLDER, "kind": kind}, str(closed), "mine.yaml")
