"""Jobs that start warm give the same results, and the same bytes after a kill."""

import os
import random
import shutil
import signal
import time
from contextlib import suppress

import psutil
import pytest
from checkout import job_counts
from waiting import wait_for

from flatlas.jobs.warm_start import SERVE, may_have_gpu
from flatlas.store.provenance import read_provenance

# Results that contain times.
TIMED = ("times.csv", ".json", ".html")
# No loss is ever this low.
UNENDING = {"loss_below": 1e-12, "epochs": 600}


@pytest.fixture(scope="module")
def begun(new_tiny):
    """One run of the tiny study, whose training takes about a second; its data are made."""
    checkout = new_tiny()
    checkout.keep_one_run()
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


def test_results_are_those_of_jobs_that_start_cold(finished, tiny, demo):
    """One job of each kind is enough. New data would take all trainings and measurements."""
    cold = ("--cores", "2", "--config", "warm_start=false")
    tiny.snakemake("--until", "subset", *cold)
    data = results(tiny)
    assert len(data) == 2 and data.items() <= results(finished).items()
    for pattern in ("runs/*-b40-*", "measures/*/*-b40-*"):
        shutil.rmtree(demo.only(pattern))
    for name in ("dag.png", "duality/fig3.csv"):
        (demo / "results/tiny" / name).unlink()
    jobs = job_counts(demo.snakemake("duality_fig3", "dag", *cold))
    assert jobs == dict.fromkeys(("train", "measure_duality", "duality_fig3", "dag"), 1)
    assert results(demo) == results(finished)


@pytest.mark.skipif(may_have_gpu(), reason="jobs that request a GPU start cold here")
def test_jobs_that_request_a_gpu_compute_the_same_where_none_is(finished, demo):
    """They start warm."""
    made = ("runs/*-b40-*", "measures/*/*-b40-*")
    for pattern in made:
        shutil.rmtree(demo.only(pattern))
    (demo / "results/tiny/duality/fig3.csv").unlink()
    requests = [f"{rule}:gpu=1" for rule in ("train", "measure_duality")]
    demo.snakemake("duality_fig3", "--set-resources", *requests)
    assert results(demo) == results(finished)
    for pattern in made:
        assert read_provenance(demo.only(f"{pattern}/provenance.json"))["device"] == "cpu"


@pytest.mark.parametrize("whom", ["job", "worker", "snakemake"])
def test_after_a_kill_at_any_moment_the_bytes_are_the_same(begun, undisturbed, tmp_path, whom):
    checkout = begun.copy(tmp_path / "study")
    process = checkout.start_cold("duality_fig3")
    wait_for(lambda: pids_of(process.pid), process)
    # All jobs of one run take longer than a second.
    time.sleep(random.Random(whom).uniform(0, 1))
    pids = wait_for(lambda: pids_of(process.pid), process)
    os.kill(pids[whom], signal.SIGKILL)
    said, _ = process.communicate()
    assert process.returncode != 0, said
    wait_for(lambda: not working_in(checkout.root))
    if whom == "snakemake":
        checkout.snakemake("--unlock")
    checkout.snakemake("duality_fig3")
    assert results(checkout) == undisturbed
    assert list((checkout / "results/resume").iterdir()) == []


def pids_of(snakemake):
    """Snakemake, its worker and one of the worker's jobs, once all three exist."""
    with suppress(psutil.NoSuchProcess):
        for worker in psutil.Process(snakemake).children():
            for job in worker.children() if SERVE in worker.cmdline() else ():
                return {"snakemake": snakemake, "worker": worker.pid, "job": job.pid}
    return {}


def working_in(folder):
    """The living processes that work in a folder."""
    return [one for one in psutil.process_iter(["cwd"]) if one.info["cwd"] == str(folder)]
