"""A file is there whole under its name, or not at all."""

import os
import random
import stat
import subprocess
import sys
import time
from pathlib import Path
from platform import node

import pytest

from flatlas.store.atomic import replacing

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
# Far more than a pipe or a page holds, so that a kill can hit the writing of one file.
SIZE = 3_000_000
BEGIN = "import sys; from flatlas.store.atomic import replacing\n"
WRITER = f"""
for letter in "AB" * 10_000:
    with replacing(sys.argv[1]) as temporary, temporary.open("w") as file:
        for _ in range(100):
            file.write(letter * {SIZE // 100})
            file.flush()
"""
# Writes half, says so, and waits for the end of its input.
HALF = """
with replacing(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print(flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "table.csv"


def start(code, path):
    command = [sys.executable, "-c", BEGIN + code, path]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=WORKFLOW, stdin=pipe, stdout=pipe)


def start_writing(path):
    writer = start(WRITER, path)
    while not path.exists():
        time.sleep(0.001)
    return writer


def end(writer):
    writer.kill()
    writer.communicate()


def assert_whole(path):
    text = path.read_text()
    assert len(text) == SIZE
    assert len(set(text)) == 1


def test_a_file_is_replaced_at_the_end(path):
    with replacing(path) as temporary:
        temporary.write_text("whole")
        assert not path.exists()
        assert temporary.suffix == ".csv", "writers look at the extension"
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("before", [None, "before"])
def test_an_exception_leaves_what_was_there(path, error, before):
    path.parent.mkdir()
    if before:
        path.write_text(before)
    with pytest.raises(error), replacing(path) as temporary:
        temporary.write_text("half")
        raise error
    assert [file.read_text() for file in path.parent.iterdir()] == ([before] if before else [])


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o007, 0o660)])
def test_a_file_has_the_permissions_of_any_new_file(path, umask, mode):
    """Also if the writer makes a file that only its owner may read, as safetensors does."""
    before = os.umask(umask)
    try:
        with replacing(path) as temporary:
            os.close(os.open(temporary, os.O_CREAT | os.O_WRONLY, 0o600))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_write_that_wrote_nothing_fails(path):
    with pytest.raises(FileNotFoundError), replacing(path):
        pass
    assert list(path.parent.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_leaves_nothing(path):
    """/dev/full refuses every byte, as a full disk does."""
    with pytest.raises(OSError, match="No space left"), replacing(path) as temporary:
        temporary.symlink_to("/dev/full")
        temporary.write_text("too much")
    assert list(path.parent.iterdir()) == []


def test_two_writers_of_one_file_do_not_mix(path):
    writers = [start_writing(path) for _ in range(2)]
    try:
        for _ in range(50):
            assert_whole(path)
    finally:
        for writer in writers:
            end(writer)


def test_a_write_deletes_the_file_of_a_killed_writer_and_not_of_a_living_one(path):
    killed, living = (start(HALF, path) for _ in range(2))
    for writer in (killed, living):
        writer.stdout.readline()
    end(killed)
    with replacing(path) as temporary:
        temporary.write_text("whole")
    assert path.read_text() == "whole"
    assert len(list(path.parent.iterdir())) == 2, "the living writer's file stays"
    living.communicate()
    assert path.read_text() == "half"
    assert list(path.parent.iterdir()) == [path]


def test_the_file_of_a_machine_whose_name_begins_alike_stays(path):
    other = path.with_name(f".{path.stem}.{node()}.b.123.part{path.suffix}")
    path.parent.mkdir()
    other.touch()
    with replacing(path) as temporary:
        temporary.write_text("whole")
    assert path.read_text() == "whole"
    assert other.exists()


def test_a_kill_in_the_middle_of_a_write_leaves_the_last_whole_file(tmp_path):
    """There are at least eight kills, until one hits a write: otherwise any writer would pass."""
    hit = False
    for seed in range(40):
        path = tmp_path / str(seed) / "table.csv"
        writer = start_writing(path)
        time.sleep(random.Random(seed).uniform(0, 0.05))
        end(writer)
        assert_whole(path)
        unfinished = [file.stat().st_size for file in path.parent.iterdir() if file != path]
        hit = hit or any(0 < size < SIZE for size in unfinished)
        if hit and seed >= 7:
            return
    pytest.fail("no kill found a half-written file")
