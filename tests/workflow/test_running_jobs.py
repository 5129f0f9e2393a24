"""The running jobs on a terminal, and without one."""

import sys

import pytest
from checkout import ROOT, Checkout
from screen import InTerminal
from waiting import wait_for

LOG = "results/logs/train/mine-1234.log"
LINE = "2026-11-23 18:00:00,000 I 31 of at most 100; epoch 31, loss 0.5; at most 90 s left"
# A job that writes what a real one does: its JSON, its log, and a line to the terminal. It lasts
# until it may end.
SNAKEFILE = f"""
import sys
sys.path.insert(0, "{ROOT / "workflow"}")

onstart:
    from flatlas.jobs import terminal
    from flatlas.jobs.messages import Messages

    global messages, stop_showing
    terminal.SECONDS_BETWEEN_LINES = terminal.SECONDS_BETWEEN_DRAWINGS = 0.1
    messages = Messages(workflow.dag.needrun_jobs())
    logger.addFilter(messages)
    stop_showing = terminal.show_running(workflow.scheduler, messages)

onsuccess:
    stop_showing()
    logger.info("all went well")

onerror:
    stop_showing()
    for line in messages.failures(workflow.scheduler):
        logger.error(line)

rule train:
    output: "{{run}}.out"
    log: "results/logs/train/{{run}}.log"
    message: "Training"
    shell:
        '''
        touch results/logs/train/{{wildcards.run}}.json
        echo '{LINE}' > {{log}}
        until [ -e may_speak ]; do sleep 0.1; done
        echo "a job speaks" >&2
        until [ -e may_end ]; do sleep 0.1; done
        touch {{output}}
        '''
"""
TARGET = "mine-1234.out"


@pytest.fixture
def checkout(tmp_path, memory):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    yield Checkout(tmp_path, memory)
    (tmp_path / "may_speak").touch()
    (tmp_path / "may_end").touch()


@pytest.fixture
def terminal(checkout):
    """Snakemake in a terminal with this many columns."""

    def started(columns):
        command = [sys.executable, "-m", "snakemake", "--cores", "1", TARGET]
        return InTerminal(command, checkout.root, checkout.env, columns)

    return started


@pytest.mark.parametrize("columns", [60, 200])
def test_a_terminal_shows_progress_below_all_messages_and_ends_clean(checkout, terminal, columns):
    snakemake = terminal(columns)
    last = snakemake.watch(drawn).splitlines()[-1]
    assert "31%, ≤ 1:" in last and "train mine  " in last
    assert (LOG in last and "epoch 31, loss 0.5" in last) is (columns == 200)
    (checkout / "may_speak").touch()
    snakemake.watch(lambda shown: "speaks" in shown)
    (checkout / "may_end").touch()
    shown = snakemake.watch()
    assert snakemake.ended() == 0
    assert "a job speaks" in shown.splitlines()
    assert "all went well" in shown.splitlines()
    assert "31%" not in shown


def test_after_ctrl_c_no_line_of_progress_stays(checkout, terminal):
    snakemake = terminal(100)
    snakemake.watch(drawn)
    snakemake.type("\x03")
    shown = snakemake.watch()
    assert snakemake.ended() == 1
    assert "31%" not in shown
    assert "Jobs left: 1" in shown
    assert not (checkout / TARGET).exists()


def test_without_a_terminal_a_line_now_and_then_goes_to_the_log_too(checkout):
    (checkout / "may_speak").touch()
    process = checkout.start(TARGET)
    wait_for(lambda: "31%" in logged(checkout), process)
    kept = logged(checkout)
    (checkout / "may_end").touch()
    said, _ = process.communicate()
    assert process.returncode == 0
    for text in (said, kept):
        (line, *_) = (line for line in text.splitlines() if "31%" in line)
        assert "train mine" in line and LOG in line
    assert "\x1b" not in said


def drawn(shown):
    """Whether the last line is that of the job, to its end or to that of the terminal."""
    last = shown.rpartition("\n")[2]
    return "31%" in last and (last.endswith(LOG) or len(last) == 59)


def logged(checkout):
    """What Snakemake has written to its log."""
    return "".join(log.read_text() for log in (checkout / ".snakemake/log").glob("*.log"))
