"""Checkouts: as shipped, with the tiny study, and with that study all made (once)."""

import fcntl
import os
import shutil
from pathlib import Path

import pytest
from checkout import Checkout, copied, with_tiny_study


@pytest.fixture(scope="session")
def memory(tmp_path_factory):
    """Fonts that matplotlib found, sources that Snakemake keeps: for all tests and workers."""
    return shared(tmp_path_factory) / "memory"


@pytest.fixture
def pristine(tmp_path, memory):
    """The repository as it is shipped, nothing made yet."""
    return Checkout(copied(tmp_path / "pristine"), memory)


@pytest.fixture
def tiny(tmp_path, memory):
    """The repository with the tiny study, nothing made yet."""
    return Checkout(with_tiny_study(copied(tmp_path / "tiny")), memory)


@pytest.fixture(scope="session")
def finished(tmp_path_factory, memory):
    """The tiny study, all made; for reading only. Made by the worker that gets here first."""
    root = shared(tmp_path_factory) / "finished"
    root.parent.mkdir(exist_ok=True)
    with root.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = root.with_suffix(".done")
        if not done.exists():
            with_tiny_study(copied(root))
            # Once as a user starts it.
            Checkout(root, memory).snakemake("--cores", "2", cold=True)
            done.touch()
    return Checkout(root, memory)


@pytest.fixture
def demo(finished, tmp_path, memory):
    """A copy of the finished tiny study, to do things to."""
    return Checkout(shutil.copytree(finished.root, tmp_path / "demo"), memory)


def shared(tmp_path_factory) -> Path:
    """A folder that all of pytest's workers have in common."""
    base = tmp_path_factory.getbasetemp()
    parallel = "PYTEST_XDIST_WORKER" in os.environ
    return (base.parent if parallel else base) / "workflow"
