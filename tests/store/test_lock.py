"""The lock of a folder: one process, with those it shares it with, and none after their death."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flatlas.errors import FlatlasError
from flatlas.store.lock import only_process

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
HOLDER = """
import sys
from flatlas.store.lock import only_process
with only_process(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of `run` until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path / "run"],
        cwd=WORKFLOW,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


def hold(folder):
    with only_process(folder):
        return True


def test_a_second_process_is_refused_by_the_first_one_s_number(tmp_path, holder):
    with pytest.raises(FlatlasError, match=f"process {holder.pid} on .* still works on"):
        hold(tmp_path / "run")
    assert hold(tmp_path / "other")


def test_the_lock_ends_with_its_holder(tmp_path, holder):
    holder.communicate()
    assert list(tmp_path.iterdir()) == []
    assert hold(tmp_path / "run")


def test_the_lock_of_a_killed_process_is_free(tmp_path, holder):
    holder.kill()
    holder.wait()
    assert hold(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_child_that_inherits_the_lock_holds_it_after_its_parent_s_death(tmp_path):
    with only_process(tmp_path / "run") as lock:
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[lock])
        # A killed process closes its files but deletes nothing.
        os.rename(tmp_path / "run.lock", tmp_path / "kept")
    os.rename(tmp_path / "kept", tmp_path / "run.lock")
    with pytest.raises(FlatlasError, match="one that it started, still works on"):
        hold(tmp_path / "run")
    child.communicate()
    assert hold(tmp_path / "run")


def test_a_failure_frees_the_lock(tmp_path):
    with pytest.raises(ValueError, match="inside"), only_process(tmp_path / "run"):
        raise ValueError("inside")
    assert hold(tmp_path / "run")
