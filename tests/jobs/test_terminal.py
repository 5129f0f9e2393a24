"""The display of the running jobs: when there is none, and what a failed update ends."""

import threading
from threading import Event
from types import SimpleNamespace

import pytest
from snakemake.logging import logger
from snakemake.settings.enums import Quietness

from flatlas.jobs import terminal


def scheduler(quiet=None, debug=False):
    settings = SimpleNamespace(quiet=quiet), SimpleNamespace(debug=debug)
    workflow = SimpleNamespace(output_settings=settings[0], execution_settings=settings[1])
    return SimpleNamespace(workflow=workflow)


@pytest.mark.parametrize(
    "settings", [{"quiet": {Quietness.PROGRESS}}, {"quiet": {Quietness.ALL}}, {"debug": True}]
)
def test_a_quiet_snakemake_or_one_that_debugs_shows_no_running_jobs(settings):
    before = threading.enumerate()
    stop = terminal.show_running(scheduler(**settings), None)
    assert {*threading.enumerate()} <= {*before}
    stop()


def test_the_next_update_is_shown_after_one_that_failed(monkeypatch):
    monkeypatch.setattr(terminal, "SECONDS_BETWEEN_LINES", 0.01)
    monkeypatch.setattr(logger, "handlers", [])
    shown, found = Event(), iter([OSError("gone for a moment")])

    def lines(*_):
        for error in found:
            raise error
        return ["a job"]

    monkeypatch.setattr(terminal, "running_lines", lines)
    monkeypatch.setattr(logger, "info", lambda text: shown.set())
    stop = terminal.show_running(scheduler(), None)
    try:
        assert shown.wait(5)
    finally:
        stop()
