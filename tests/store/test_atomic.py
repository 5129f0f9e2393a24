"""A file is there whole under its name, or not at all."""

import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flatlas.store.atomic import replacing

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
# Far more than a pipe or a page holds, so that a kill can land amid the writing of one file.
SIZE = 3_000_000
WRITER = f"""
import sys
from flatlas.store.atomic import replacing
for letter in "AB" * 10_000:
    with replacing(sys.argv[1]) as temporary, temporary.open("w") as file:
        for _ in range(100):
            file.write(letter * {SIZE // 100})
            file.flush()
"""


def test_a_file_is_replaced_at_the_end(tmp_path):
    path = tmp_path / "new" / "table.csv"
    with replacing(path) as temporary:
        temporary.write_text("whole")
        assert not path.exists()
        assert temporary.suffix == ".csv", "writers look at the extension"
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_nothing_new(tmp_path, error):
    path = tmp_path / "table.csv"
    with pytest.raises(error), replacing(path) as temporary:
        temporary.write_text("half")
        raise error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o007, 0o660)])
def test_a_file_is_as_open_as_any_new_file(tmp_path, umask, mode):
    """Also where the writer makes a file that its owner alone may read, as safetensors does."""
    path = tmp_path / "weights.safetensors"
    before = os.umask(umask)
    try:
        with replacing(path) as temporary:
            os.close(os.open(temporary, os.O_CREAT | os.O_WRONLY, 0o600))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_an_exception_leaves_what_was_there(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("before")
    with pytest.raises(ValueError, match="midway"), replacing(path) as temporary:
        temporary.write_text("half")
        raise ValueError("midway")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_wrote_nothing_is_no_success(tmp_path):
    path = tmp_path / "table.csv"
    with pytest.raises(FileNotFoundError), replacing(path):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_leaves_nothing(tmp_path):
    """/dev/full refuses every byte, as a full disk does."""
    with pytest.raises(OSError, match="No space left"), replacing(tmp_path / "x.csv") as temporary:
        temporary.symlink_to("/dev/full")
        temporary.write_text("too much")
    assert list(tmp_path.iterdir()) == []


def test_two_writers_of_one_file_do_not_mix(tmp_path):
    path = tmp_path / "table.csv"
    writers = [start_writer(path) for _ in range(2)]
    try:
        wait_for(path)
        for _ in range(50):
            assert_whole(path)
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()


def test_a_write_deletes_what_a_killed_writer_left_and_no_living_one_s(tmp_path):
    path = tmp_path / "table.csv"
    half = "import sys; from flatlas.store.atomic import replacing\n"
    half += "with replacing(sys.argv[1]) as temporary:\n"
    half += "    temporary.write_text('half'); print(flush=True); sys.stdin.read()"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", half, path],
            cwd=WORKFLOW,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for writer in writers:
        writer.stdout.readline()
    writers[0].kill()
    writers[0].wait()
    with replacing(path) as temporary:
        temporary.write_text("whole")
    assert path.read_text() == "whole"
    assert len(list(tmp_path.iterdir())) == 2, "the living writer's file stays"
    writers[1].communicate()
    assert path.read_text() == "half"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("seed", range(8))
def test_a_kill_in_the_middle_of_a_write_leaves_the_last_whole_file(tmp_path, seed):
    path = tmp_path / "table.csv"
    writer = start_writer(path)
    wait_for(path)
    time.sleep(random.Random(seed).uniform(0, 0.05))
    writer.send_signal(signal.SIGKILL)
    assert writer.wait() == -signal.SIGKILL
    assert_whole(path)


def test_some_of_those_kills_land_amid_a_write(tmp_path):
    """Else the test above would pass for any writer."""
    for seed in range(40):
        path = tmp_path / str(seed) / "table.csv"
        writer = start_writer(path)
        wait_for(path)
        time.sleep(random.Random(seed).uniform(0, 0.05))
        writer.kill()
        writer.wait()
        unfinished = [file.stat().st_size for file in path.parent.iterdir() if file != path]
        if any(0 < size < SIZE for size in unfinished):
            return
    pytest.fail("no kill found a half-written file")


def start_writer(path):
    return subprocess.Popen([sys.executable, "-c", WRITER, path], cwd=WORKFLOW)


def wait_for(path):
    while not path.exists():
        time.sleep(0.001)


def assert_whole(path):
    text = path.read_text()
    assert len(text) == SIZE
    assert len(set(text)) == 1
