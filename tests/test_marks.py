"""Tests that need something special are skipped where it is missing, and say so."""

import shutil
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
HOOK = Path(__file__).with_name("conftest.py")
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
    slurm: needs a SLURM that accepts jobs
    browser: needs a headless browser
"""


@pytest.fixture
def marked(pytester):
    """Run a test of a mark, and one without, under the hook of this folder."""

    def ran(mark):
        pytester.makeini(INI)
        shutil.copy(HOOK, pytester.path / "conftest.py")
        pytester.makepyfile(TESTS.format(mark=mark, torch=mark == "gpu"))
        return pytester.runpytest_subprocess("-ra", "-p", "no:cacheprovider")

    return ran


@pytest.mark.parametrize(
    ("mark", "reason"), [("slurm", "there is no sbatch"), ("browser", "none of chromium, *")]
)
def test_a_program_that_is_missing(marked, monkeypatch, tmp_path, mark, reason):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = marked(mark)
    done.assert_outcomes(passed=1, skipped=1)
    done.stdout.fnmatch_lines([f"SKIPPED *{reason}"])


@pytest.mark.parametrize(("mark", "program"), [("slurm", "sbatch"), ("browser", "chromium")])
def test_a_program_that_is_there(marked, monkeypatch, tmp_path, mark, program):
    (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    marked(mark).assert_outcomes(passed=2)


def test_a_gpu_that_is_hidden(marked, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    done = marked("gpu")
    done.assert_outcomes(passed=1, skipped=1)
    done.stdout.fnmatch_lines(["SKIPPED *torch sees no CUDA"])
