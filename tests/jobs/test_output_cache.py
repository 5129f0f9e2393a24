"""Snakemake's cache of results: who may change what is in it."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from flatlas.jobs import output_cache


@pytest.fixture
def warnings(monkeypatch):
    found = []
    monkeypatch.setattr(output_cache.logger, "warning", lambda text, *_: found.append(text))
    return found


@pytest.fixture
def cache(monkeypatch):
    """A cache in a folder, both open to all users. That of pytest itself is closed."""
    with TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name) / "cache"
        folder.mkdir()
        for one in (folder, folder.parent):
            one.chmod(0o755)
        monkeypatch.setenv("SNAKEMAKE_OUTPUT_CACHE", str(folder))
        yield folder


def test_a_cache_that_all_users_reach_is_warned_of(cache, warnings):
    output_cache.warn_if_open()
    assert len(warnings) == 1


@pytest.mark.parametrize("closed", ["cache", "."])
def test_a_cache_that_is_closed_or_in_a_closed_folder_is_not(cache, warnings, closed):
    (cache.parent / closed).chmod(0o750)
    output_cache.warn_if_open()
    assert warnings == []


def test_no_cache_or_one_that_does_not_exist_yet_is_not(cache, warnings, monkeypatch):
    cache.rmdir()
    output_cache.warn_if_open()
    monkeypatch.delenv("SNAKEMAKE_OUTPUT_CACHE")
    output_cache.warn_if_open()
    assert warnings == []
