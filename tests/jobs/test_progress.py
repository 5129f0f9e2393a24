"""Progress: a line in the log every few seconds, or a bar if the job is run by hand."""

import logging

import pytest

from flatlas.jobs import progress
from flatlas.jobs.progress import Progress


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, logger="flatlas")
    return lambda: [record.getMessage() for record in caplog.records]


@pytest.fixture
def seconds(monkeypatch):
    """A clock that advances by one second at each reading."""
    clock = iter(range(1000))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))


def test_every_ten_seconds_a_line_shows_facts_and_the_time_left(lines, seconds):
    report = Progress("training", bar=False)
    for done in range(1, 35):
        report(done, 100, epoch=done, loss="2.30e+00")
    assert [line.split()[0] for line in lines()] == ["10", "20", "30"]
    assert lines()[0].startswith("10 of at most 100; epoch 10, loss 2.30e+00; ")
    assert lines()[0].endswith("at most 90 s left")


def test_the_time_left_follows_from_the_steps_of_this_job_only(lines, seconds, monkeypatch):
    """Resumed after step 60, 20 steps in 20 seconds: 20 s for the other 20, not 5."""
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 20.0)
    report = Progress("training", bar=False)
    for done in range(61, 81):
        report(done, 100, epoch=done)
    (line,) = lines()
    assert line.startswith("80 of at most 100;")
    assert line.endswith("at most 20 s left")


def test_the_last_step_is_always_logged(lines, seconds):
    report = Progress("training", bar=False)
    for done in range(1, 4):
        report(done, 3, loss=0)
    assert [line.split(";")[0] for line in lines()] == ["3 of at most 3"]


def test_a_bar_starts_at_the_first_step_of_the_job_and_replaces_the_lines(lines, capsys):
    report = Progress("training", bar=True)
    report(61, 100, loss=0.5)
    assert (report.shown.initial, report.shown.n) == (60, 61)
    report(100, 100, loss=0.25)
    report.close()
    shown = capsys.readouterr().err
    assert all(one in shown for one in ("training", "100/100", "loss=0.25"))
    assert lines() == []
