"""Tests that need a machine with something special are skipped elsewhere, each with its reason."""

import os
import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def pytest_collection_modifyitems(items):
    # The longest first: one that comes last runs alone. The rest stays in order.
    items.sort(key=lambda item: "workflow" not in item.path.parts[-2:])
    for mark, missing in (("gpu", no_gpu), ("slurm", no_slurm), ("browser", no_browser)):
        marked = [item for item in items if item.get_closest_marker(mark)]
        reason = missing() if marked else ""
        for item in marked if reason else ():
            item.add_marker(pytest.mark.skip(reason=reason))


def no_gpu():
    # Here, since torch takes seconds to load: only where a test asks for a GPU.
    import torch

    return "" if torch.cuda.is_available() else "torch sees no CUDA"


def no_slurm():
    # Not just any: these tests drain its node.
    ours = os.environ.get("FLATLAS_TEST_CLUSTER")
    return "" if ours else "no SLURM of the tests' own: `make test-slurm` brings one up"


def no_browser():
    found = any(map(shutil.which, BROWSERS))
    return "" if found else f"none of {', '.join(BROWSERS)} is installed"
