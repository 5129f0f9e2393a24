"""A fresh Python for tests; tests that need a special machine are skipped elsewhere."""

import os
import shutil
import subprocess
import sys
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).resolve().parents[1] / "workflow"


@pytest.fixture(scope="session")
def python():
    """Run code in a fresh process that finds the library, and return what it prints."""

    def run(code, *arguments, folder=WORKFLOW, stdin=None, **env):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(WORKFLOW)} | env,
            input=stdin,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        return done.stdout

    return run


@pytest.fixture(scope="session")
def forked():
    """Run a function in a fork of this process, without new imports, and return its exit code."""

    def run(function, *arguments):
        process = get_context("fork").Process(target=function, args=arguments)
        process.start()
        process.join(60)
        # OpenMP's threads are missing in a fork: work on several of them waits forever.
        process.kill()
        process.join()
        return process.exitcode

    return run


@pytest.fixture
def working_folder(tmp_path, monkeypatch):
    """The folder in which Snakemake works; modules imported from it are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture(scope="session")
def provenance():
    """Write the provenance of a made-up result, with the facts that a test needs."""
    # Imported here because test_marks.py copies this file to a folder without the library.
    from flatlas.store.provenance import write_provenance

    return partial(write_provenance, files=[], spec={}, code="", seconds=0)


@pytest.fixture(scope="module")
def cuda():
    """The GPU as a job asks for it, with reproducible algorithms."""
    # Imported here because torch takes seconds to load: only if a test asks for a GPU.
    import torch

    from flatlas.device import choose_device

    yield choose_device(wanted=True)
    torch.use_deterministic_algorithms(False)


@pytest.fixture(scope="module")
def chromium():
    """A browser without a screen."""
    # Imported here because only tests of pages need it.
    from browser import started

    with started() as browser:
        yield browser


def pytest_collection_modifyitems(items):
    # The longest first: one that comes last runs alone. The rest stays in order.
    items.sort(key=lambda item: "workflow" not in item.path.parts[-2:])
    for mark, missing in (("gpu", no_gpu), ("slurm", no_slurm), ("browser", no_browser)):
        marked = [item for item in items if item.get_closest_marker(mark)]
        reason = missing() if marked else ""
        for item in marked if reason else ():
            item.add_marker(pytest.mark.skip(reason=reason))


def no_gpu():
    # Imported here because torch takes seconds to load: only if a test asks for a GPU.
    import torch

    return "" if torch.cuda.is_available() else "torch sees no CUDA"


def no_slurm():
    # Not any SLURM: these tests drain its node.
    ours = os.environ.get("FLATLAS_TEST_CLUSTER")
    return "" if ours else "no SLURM of the tests' own: `make test-slurm` brings one up"


def no_browser():
    # Imported here because only tests of pages need it.
    from browser import BROWSERS

    found = any(map(shutil.which, BROWSERS))
    return "" if found else f"none of {', '.join(BROWSERS)} is installed"
