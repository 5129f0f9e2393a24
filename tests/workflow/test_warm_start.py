"""Jobs that start warm: the same results, and what is killed goes on to the same bytes."""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from checkout import Checkout, copied, with_tiny_study

from flatlas.jobs.warm_start import SERVE

# Results that hold times, or show them.
TIMED = ("times.csv", ".json", ".html")
# No loss is ever this low.
UNENDING = {"loss_below": 1e-12, "epochs": 600}


@pytest.fixture(scope="module")
def begun(tmp_path_factory, memory):
    """The tiny study with trainings that take some seconds; its data are made."""
    checkout = Checkout(with_tiny_study(copied(tmp_path_factory.mktemp("begun") / "study")), memory)
    checkout.set_study("runs", "base", "stop", value=UNENDING)
    checkout.snakemake("--until", "subset")
    return checkout


@pytest.fixture(scope="module")
def undisturbed(begun, tmp_path_factory, memory):
    """What that study makes when nobody kills anything."""
    return results(ended(copy_of(begun, tmp_path_factory.mktemp("undisturbed"))))


def copy_of(checkout, folder):
    return Checkout(shutil.copytree(checkout.root, folder / "study"), checkout.memory)


def ended(checkout):
    checkout.snakemake("duality_fig3")
    return checkout


def results(checkout):
    made = checkout.contents("[!l]*/**/*")
    return {name: text for name, text in made.items() if not name.endswith(TIMED)}


def test_results_are_those_of_jobs_that_start_cold(finished, tiny):
    tiny.snakemake("--cores", "2", "--config", "warm_start=false")
    assert results(tiny) == results(finished)


@pytest.mark.parametrize("whom", ["job", "worker", "snakemake"])
def test_what_was_killed_at_any_moment_goes_on_to_the_same_bytes(
    begun, undisturbed, tmp_path, whom
):
    checkout = copy_of(begun, tmp_path)
    process = checkout.start_cold("duality_fig3")
    wait_for(lambda: pids_of(checkout, process.pid))
    time.sleep(random.Random(whom).uniform(0, 2))
    pids = wait_for(lambda: process.poll() is not None or pids_of(checkout, process.pid))
    assert process.poll() is None, "it was over before anybody was killed"
    os.kill(pids[whom], signal.SIGKILL)
    said, _ = process.communicate()
    assert process.returncode != 0, said
    wait_for(lambda: not working_in(checkout.root))
    if whom == "snakemake":
        checkout.snakemake("--unlock")
    assert results(ended(checkout)) == undisturbed
    assert list((checkout / "results/resume").iterdir()) == []


def pids_of(checkout, snakemake):
    """Snakemake, its worker and one of the jobs of that, once there are all three."""
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
        try:
            if (process / "cwd").resolve() == folder:
                found[int(process.name)] = (process / "cmdline").read_text()
        except OSError:
            continue
    return found


def parent(pid):
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def wait_for(true, patience=60):
    deadline = time.monotonic() + patience
    while not (found := true()):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return found
