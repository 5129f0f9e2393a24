"""Jobs that start warm give the same results, and the same bytes after a kill."""

import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from flatlas.jobs.warm_start import SERVE

# Results that contain times.
TIMED = ("times.csv", ".json", ".html")
# No loss is ever this low.
UNENDING = {"loss_below": 1e-12, "epochs": 600}


@pytest.fixture(scope="module")
def begun(new_tiny):
    """The tiny study with trainings that take some seconds; its data are made."""
    checkout = new_tiny()
    checkout.set_study("runs", "base", "stop", value=UNENDING)
    checkout.snakemake("--until", "subset")
    return checkout


@pytest.fixture(scope="module")
def undisturbed(begun, tmp_path_factory):
    """What that study makes when nothing is killed."""
    checkout = begun.copy(tmp_path_factory.mktemp("undisturbed") / "study")
    checkout.snakemake("duality_fig3")
    return results(checkout)


def results(checkout):
    made = checkout.contents("[!l]*/**/*")
    return {name: text for name, text in made.items() if not name.endswith(TIMED)}


def test_results_are_those_of_jobs_that_start_cold(finished, tiny):
    tiny.snakemake("--cores", "2", "--config", "warm_start=false")
    assert results(tiny) == results(finished)


@pytest.mark.parametrize("whom", ["job", "worker", "snakemake"])
def test_after_a_kill_at_any_moment_the_bytes_are_the_same(begun, undisturbed, tmp_path, whom):
    checkout = begun.copy(tmp_path / "study")
    process = checkout.start_cold("duality_fig3")
    wait_for(lambda: pids_of(checkout, process.pid))
    time.sleep(random.Random(whom).uniform(0, 2))
    pids = wait_for(lambda: process.poll() is not None or pids_of(checkout, process.pid))
    assert process.poll() is None, "it ended before anything was killed"
    os.kill(pids[whom], signal.SIGKILL)
    said, _ = process.communicate()
    assert process.returncode != 0, said
    wait_for(lambda: not working_in(checkout.root))
    if whom == "snakemake":
        checkout.snakemake("--unlock")
    checkout.snakemake("duality_fig3")
    assert results(checkout) == undisturbed
    assert list((checkout / "results/resume").iterdir()) == []


def pids_of(checkout, snakemake):
    """Snakemake, its worker and one of the worker's jobs, once all three exist."""
    serving = [pid for pid, line in working_in(checkout.root).items() if SERVE in line]
    workers = [pid for pid in serving if parent(pid) == snakemake]
    jobs = [pid for pid in serving if parent(pid) in workers]
    if not (workers and jobs):
        return {}
    return {"snakemake": snakemake, "worker": workers[0], "job": jobs[0]}


def working_in(folder):
    """The command line of each living process that works in a folder."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").resolve() == folder:
                found[int(process.name)] = (process / "cmdline").read_text()
    return found


def parent(pid):
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def wait_for(true, patience=60):
    deadline = time.monotonic() + patience
    while not (found := true()):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return found
