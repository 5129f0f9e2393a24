"""Progress: lines now and then in a log, a bar by hand."""

import logging

import pytest

from flatlas.jobs import progress
from flatlas.jobs.progress import Progress


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, logger="flatlas")
    return lambda: [record.getMessage() for record in caplog.records]


def test_a_line_tells_where_we_are_with_facts(lines, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    report = Progress("training", bar=False)
    report(1, 4, epoch=1, loss="2.30e+00")
    assert lines()[0].startswith("1 of at most 4; epoch 1, loss 2.30e+00; at most ")


def test_lines_come_now_and_then_only(lines, monkeypatch):
    """A clock that moves a second a step: with ten seconds between lines, every tenth step."""
    clock = iter(range(1000))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    report = Progress("training", bar=False)
    for done in range(1, 35):
        report(done, 100, epoch=done)
    assert [line.split()[0] for line in lines()] == ["10", "20", "30"]
    assert lines()[0].endswith("at most 90 s left")


def test_the_time_left_is_judged_by_the_steps_of_this_job_only(lines, monkeypatch):
    """Resumed after step 60, 20 steps in 20 seconds: 20 s for the other 20, not 5."""
    clock = iter(range(1000))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 20.0)
    report = Progress("training", bar=False)
    for done in range(61, 81):
        report(done, 100, epoch=done)
    (line,) = lines()
    assert line.startswith("80 of at most 100;")
    assert line.endswith("at most 20 s left")


def test_by_hand_a_resumed_bar_begins_where_the_job_does(capsys):
    report = Progress("training", bar=True)
    report(61, 100, loss=0.5)
    assert (report.shown.initial, report.shown.n) == (60, 61)
    report.close()


def test_the_end_is_always_told(lines):
    report = Progress("training", bar=False)
    for done in range(1, 4):
        report(done, 3, loss=0)
    assert [line.split(";")[0] for line in lines()] == ["3 of at most 3"]


def test_by_hand_there_is_a_bar_and_no_lines(lines, capsys):
    report = Progress("training", bar=True)
    for done in (1, 5, 10):
        report(done, 10, loss=0.25)
    report.close()
    shown = capsys.readouterr().err
    assert "training" in shown
    assert "10/10" in shown
    assert "loss=0.25" in shown
    assert lines() == []
