"""Tests that need something special are skipped where it is missing, and say so."""

import shutil
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
FOLDER = Path(__file__).parent
TESTS = """
import pytest
import sys

@pytest.mark.{mark}
def test_that_needs_something(): ...

def test_that_needs_nothing(): assert "torch" not in sys.modules or {torch}
"""
INI = """
[pytest]
markers =
    gpu: needs an NVIDIA GPU
    slurm: needs a SLURM of its own, which make test-slurm brings up
    browser: needs a headless browser
"""


@pytest.mark.parametrize(
    ("mark", "program", "own_cluster", "reason"),
    [
        ("browser", None, False, "none of chromium, "),
        ("browser", "chromium", False, None),
        # Somebody else's cluster, whose nodes the tests must not drain.
        ("slurm", "sbatch", False, "make test-slurm"),
        ("slurm", None, True, None),
        ("gpu", None, False, "torch sees no CUDA"),
    ],
)
def test_what_needs_something_is_skipped_where_it_is_missing(
    pytester, monkeypatch, tmp_path, mark, program, own_cluster, reason
):
    programs = tmp_path / "programs"
    programs.mkdir()
    if program:
        (programs / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("FLATLAS_TEST_CLUSTER", "ours" if own_cluster else "")
    pytester.makeini(INI)
    # The hook, and the names of browsers that it looks for.
    for file in ("conftest.py", "workflow/browser.py"):
        shutil.copy(FOLDER / file, pytester.path)
    pytester.makepyfile(TESTS.format(mark=mark, torch=mark == "gpu"))
    done = pytester.runpytest_subprocess("-ra", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1 if reason else 2, skipped=1 if reason else 0)
    if reason:
        done.stdout.fnmatch_lines([f"SKIPPED *{reason}*"])
