"""One failed update of the running jobs does not end their display."""

from threading import Event
from types import SimpleNamespace

from snakemake.logging import logger

from flatlas.jobs import terminal


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
    settings = SimpleNamespace(quiet=None), SimpleNamespace(debug=False)
    workflow = SimpleNamespace(output_settings=settings[0], execution_settings=settings[1])
    stop = terminal.show_running(SimpleNamespace(workflow=workflow), None)
    try:
        assert shown.wait(5)
    finally:
        stop()
