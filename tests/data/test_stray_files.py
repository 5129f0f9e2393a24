"""What lies in a folder of images besides images: looked at neither by the plan nor by the job."""

import os
import signal
import socket

import numpy as np
import pytest
from PIL import Image

from flatlas.data.sources import folder
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import Folder
from flatlas.plan.originals import originals

SIDE = 4
SECONDS = 20


@pytest.fixture(autouse=True)
def alarm():
    """A test that hangs on a pipe, or walks through the whole disk, fails."""

    def ring(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)


def draw(path, shade):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((SIDE, SIDE, 3), shade, np.uint8)).save(path)


@pytest.fixture
def pets(tmp_path):
    for shade, name in enumerate(("train/cat/1", "train/dog/1", "test/cat/1", "test/dog/1")):
        draw(tmp_path / "data" / "pets" / f"{name}.png", shade)
    return tmp_path / "data" / "pets"


def spec(**changed):
    return Folder(kind="folder", path="pets", classes=2, side=SIDE, **changed)


def read(pets, **changed):
    return folder.load(spec(**changed), pets.parent)


def digest(pets, **changed):
    return originals(spec(**changed).resolved(), str(pets.parent), "a file")


def listening(path):
    with socket.socket(socket.AF_UNIX) as one:
        # A socket's path may have some hundred characters, and a temporary folder's has more.
        here = os.getcwd()
        os.chdir(path.parent)
        one.bind(path.name)
        os.chdir(here)


STRAYS = {
    "a file of macOS": lambda pets: (pets / "train/cat/.DS_Store").write_bytes(b"\0"),
    "macOS's notes on an image": lambda pets: (pets / "train/cat/._1.png").write_bytes(b"\0"),
    "a hidden folder of images": lambda pets: draw(pets / "train/.ipynb_checkpoints/1.png", 9),
    "a text in a class": lambda pets: (pets / "train/cat/notes.txt").write_text("a cat"),
    "a text in a part": lambda pets: (pets / "train/notes.txt").write_text("cats"),
    "an image beside the parts": lambda pets: draw(pets / "sample.png", 9),
    "an image beside the classes": lambda pets: draw(pets / "train/sample.png", 9),
    "a deeper folder": lambda pets: draw(pets / "train/cat/kittens/1.png", 9),
    "a third part": lambda pets: draw(pets / "valid/cat/1.png", 9),
    "a link to /": lambda pets: (pets / "everything").symlink_to("/"),
    "a link to / in a class": lambda pets: (pets / "train/cat/everything").symlink_to("/"),
    "a cycle": lambda pets: (pets / "train/cat/cycle").symlink_to(pets),
    "a link to itself": lambda pets: (pets / "train/self").symlink_to(pets / "train/self"),
    "a pipe": lambda pets: os.mkfifo(pets / "train/pipe"),
    "a pipe in a class": lambda pets: os.mkfifo(pets / "train/cat/pipe"),
    "a socket": lambda pets: listening(pets / "train/cat/socket"),
}


@pytest.mark.parametrize("add", STRAYS.values(), ids=STRAYS)
def test_what_is_no_image_changes_nothing(pets, add):
    before, known = read(pets), digest(pets)
    add(pets)
    assert digest(pets) == known != ""
    for name, array in vars(read(pets)).items():
        np.testing.assert_array_equal(array, getattr(before, name))


REFUSED = {
    "train/cat/2.png": lambda path: os.mkfifo(path),
    "train/dog/2.jpg": listening,
    "test/dog/2.PNG": lambda path: path.mkdir(),
    "train/dog/3.jpeg": lambda path: path.symlink_to("nowhere.png"),
    "train/cat/3.png": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize(("name", "make"), REFUSED.items(), ids=REFUSED)
def test_what_is_only_named_like_an_image_is_refused(pets, name, make):
    make(pets / name)
    for door in (digest, read):
        with pytest.raises(FlatlasError, match=f"{pets / name} is named like an image, but"):
            door(pets)


@pytest.mark.parametrize("name", [b"train/cat/\xff.png", b"train/\xff"])
def test_a_name_that_is_no_utf_8_is_named(pets, name):
    os.mkdir(os.fsencode(pets) + b"/" + name)
    for door in (digest, read):
        with pytest.raises(FlatlasError, match=r"xff.* is not UTF-8\. Rename it"):
            door(pets)


def test_the_number_of_channels_may_come_as_a_text_of_the_command_line():
    assert spec(channels="1").channels == 1


def link_an_image(pets):
    draw(pets.parent / "elsewhere.png", 9)
    (pets / "train/cat/2.png").symlink_to(pets.parent / "elsewhere.png")
    return pets / "train/cat/2.png"


def link_a_class(pets):
    (pets / "train/cat").rename(pets.parent / "cats")
    (pets / "train/cat").symlink_to(pets.parent / "cats")
    return pets / "train/cat"


def link_a_part(pets):
    (pets / "train").rename(pets.parent / "elsewhere")
    (pets / "train").symlink_to("../elsewhere")
    return pets / "train"


@pytest.mark.parametrize("link", [link_an_image, link_a_class, link_a_part])
def test_links_out_of_the_folder_are_followed_only_if_asked(pets, link):
    path = link(pets)
    for door in (digest, read):
        with pytest.raises(FlatlasError, match=f"{path} is a link to .*follow_links: true"):
            door(pets)
    assert set(read(pets, follow_links=True).train_labels.tolist()) == {0, 1}
    assert digest(pets, follow_links=True)


def test_a_class_that_is_a_link_to_everything_is_refused(pets):
    (pets / "train/everything").symlink_to("/")
    with pytest.raises(FlatlasError, match="train/everything is a link to /, outside"):
        read(pets)


def test_links_inside_the_folder_are_images(pets):
    draw(pets / "kept/2.png", 9)
    (pets / "train/cat/2.png").symlink_to("../../kept/2.png")
    assert (read(pets).train_images[1] == 9).all()
    known = digest(pets)
    os.utime(pets / "kept/2.png", ns=(0, 0))
    assert digest(pets) != known


def test_a_folder_of_images_may_itself_be_a_link(pets):
    known = digest(pets)
    pets.rename(pets.parent / "animals")
    pets.symlink_to("animals")
    assert len(read(pets).train_labels) == 2
    assert digest(pets) == known


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_class_that_may_not_be_read_is_named(pets):
    (pets / "train/dog").chmod(0)
    try:
        for door in (digest, read):
            with pytest.raises(FlatlasError, match="train/dog can't be read"):
                door(pets)
    finally:
        (pets / "train/dog").chmod(0o755)
