"""Checkouts: as shipped, with the tiny study, and with that study all made (once)."""

import fcntl
import os
from pathlib import Path

import pytest
from checkout import Checkout, copied, with_tiny_study


@pytest.fixture(scope="session")
def memory(tmp_path_factory):
    """One cache folder for all tests and workers, with matplotlib's fonts among others."""
    return shared(tmp_path_factory) / "memory"


@pytest.fixture
def pristine(tmp_path, memory):
    """The repository as it is shipped, nothing made yet."""
    return Checkout(copied(tmp_path / "pristine"), memory)


@pytest.fixture(scope="session")
def new_tiny(tmp_path_factory, memory):
    """Make a copy of the repository with the tiny study, nothing made yet."""

    def made():
        return Checkout(with_tiny_study(copied(tmp_path_factory.mktemp("new") / "tiny")), memory)

    return made


@pytest.fixture
def tiny(new_tiny):
    """The repository with the tiny study, nothing made yet."""
    return new_tiny()


@pytest.fixture(scope="session")
def finished(tmp_path_factory, memory):
    """The tiny study with all results, for reading only. The first worker makes it."""
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
def demo(finished, tmp_path):
    """A copy of the finished tiny study, to change."""
    return finished.copy(tmp_path / "demo")


@pytest.fixture
def output_cache(tmp_path):
    """The setting by which checkouts share results."""
    (tmp_path / "cache").mkdir()
    return {"SNAKEMAKE_OUTPUT_CACHE": str(tmp_path / "cache")}


def shared(tmp_path_factory) -> Path:
    """A folder that all of pytest's workers have in common."""
    base = tmp_path_factory.getbasetemp()
    parallel = "PYTEST_XDIST_WORKER" in os.environ
    return (base.parent if parallel else base) / "workflow"
