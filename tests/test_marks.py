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
    slurm: needs a SLURM of its own, which make test-slurm brings up
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


def test_a_browser_that_is_missing(marked, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = marked("browser")
    done.assert_outcomes(passed=1, skipped=1)
    done.stdout.fnmatch_lines(["SKIPPED *none of chromium, *"])


def test_a_browser_that_is_there(marked, monkeypatch, tmp_path):
    (tmp_path / "chromium").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    marked("browser").assert_outcomes(passed=2)


def test_a_cluster_of_somebody_else(marked, monkeypatch, tmp_path):
    """Its nodes are not for us to drain."""
    (tmp_path / "sbatch").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("FLATLAS_TEST_CLUSTER", raising=False)
    done = marked("slurm")
    done.assert_outcomes(passed=1, skipped=1)
    done.stdout.fnmatch_lines(["SKIPPED *make test-slurm*"])


def test_a_cluster_of_our_own(marked, monkeypatch, tmp_path):
    monkeypatch.setenv("FLATLAS_TEST_CLUSTER", str(tmp_path))
    marked("slurm").assert_outcomes(passed=2)


def test_a_gpu_that_is_hidden(marked, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    done = marked("gpu")
    done.assert_outcomes(passed=1, skipped=1)
    done.stdout.fnmatch_lines(["SKIPPED *torch sees no CUDA"])
