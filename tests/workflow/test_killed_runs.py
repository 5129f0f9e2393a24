"""A killed training resumes when asked again, and ends with the bytes of an undisturbed one."""

import os
import random
import re
import signal

import numpy as np
import psutil
import pytest
from waiting import wait_for

from flatlas.store.tables import read_table
from flatlas.training.resume import read_state

# No loss is ever this low: both trainings take all their epochs.
CASES = {
    "train": {"stop": {"loss_below": 1e-12, "epochs": 400}},
    "record": {"stop": {"epochs": 100, "extra_epochs": 300}, "snapshots": "fc2"},
}
UNLIKE = {"times.csv", "provenance.json"}


@pytest.fixture(scope="module")
def one_run(new_tiny):
    """The tiny study with one run, whose data are made."""
    checkout = new_tiny()
    checkout.keep_one_run()
    checkout.snakemake("--until", "subset")
    return checkout


def copy_of(checkout, folder, rule=None):
    """A copy, in which the training is long if `rule` says of which kind it is.

    It saves its state after each epoch, so that it does not end before it is interrupted.
    """
    copy = checkout.copy(folder / "checkout")
    if rule:
        copy.save_each_epoch()
    for key, value in CASES.get(rule, {}).items():
        copy.set_study("runs", "base", key, value=value)
    return copy


def test_a_training_killed_again_and_again_ends_as_one_that_was_not(one_run, tmp_path):
    checkout = copy_of(one_run, tmp_path, "train")
    epochs = []
    for seed in range(2):
        state = interrupted(checkout, "train", random.Random(seed).randint(2, 9))
        assert checkout.contents("runs/*/*") == {}, "nothing that could be taken for a result"
        epochs.append(state["times"].tolist())
        assert "--unlock" in checkout.snakemake("--until", "train", fails=True)
        checkout.snakemake("--unlock")
    killed_when(checkout, "train", lambda: checkout.contents("runs/*/weights.safetensors"))
    checkout.snakemake("--unlock")

    checkout.snakemake("--until", "train")
    resumed, seconds = checkout.contents("runs/*/*"), read_times(checkout, "runs")
    for saved in epochs:
        assert saved == seconds[: len(saved)], "each resumed from where the one before was"
    assert len(epochs[0]) < len(epochs[1]) < len(seconds)
    assert list((checkout / "results/resume").iterdir()) == []

    checkout.snakemake("--until", "train", "--forcerun", "train")
    assert read_times(checkout, "runs") != seconds, "a separate training"
    whole = checkout.contents("runs/*/*")
    changed = {name.rpartition("/")[2] for name in whole if whole[name] != resumed.get(name)}
    assert changed == UNLIKE


def test_after_ctrl_c_the_same_command_resumes(one_run, tmp_path):
    """Ctrl-C reaches Snakemake and its jobs alike, and nothing needs unlocking.

    This training records a trajectory, which is resumed too.
    """
    checkout = copy_of(one_run, tmp_path, "record")
    state = interrupted(checkout, "record", 3, signal.SIGINT)
    assert checkout.contents("recordings/*/*") == {}
    checkout.snakemake("--until", "record")
    assert read_times(checkout, "recordings")[: len(state["times"])] == state["times"].tolist()
    assert np.isfinite(np.load(checkout.only("recordings/*/trajectory.npy"))).all()


def test_a_training_on_other_images_or_with_another_default_is_not_resumed(one_run, tmp_path):
    """Neither edit changes the run's id: it is a hash of the chosen values alone."""
    stopped = copy_of(one_run, tmp_path, "train")
    state = interrupted(stopped, "train", 5)
    stopped.snakemake("--unlock")
    for number, (path, old, new) in enumerate(
        [
            ("data/subset.py", '"training images"', '"other images"'),
            ("plan/training_specs.py", "coefficient: (.*?) = 0.0", r"coefficient: \1 = 0.001"),
        ]
    ):
        checkout = copy_of(stopped, tmp_path / str(number))
        (begun,) = (checkout / "results/resume").glob("*/")
        checkout.edit(f"workflow/flatlas/{path}", old, new)
        checkout.snakemake("--until", "train")
        assert {path.name for path in (checkout / "results/runs").iterdir()} == {begun.name}
        assert read_times(checkout, "runs")[: len(state["times"])] != state["times"].tolist()
        assert list((checkout / "results/resume").iterdir()) == []


def test_a_second_training_of_a_run_is_refused_while_the_first_one_lives(one_run, tmp_path):
    """Snakemake alone was killed, and the training that it had started goes on."""
    checkout = copy_of(one_run, tmp_path, "train")
    process = checkout.start_cold("--until", "train", "--config", "warm_start=false")
    wait_for(lambda: [*(checkout / "results/resume").glob("*/state")], process)
    (first,) = psutil.Process(process.pid).children()
    first.suspend()
    process.kill()
    process.wait()

    checkout.snakemake("--unlock")
    said = checkout.snakemake("--until", "train", fails=True)
    assert re.search(rf"process {first.pid} on \S+, .* still works on results/resume/", said)
    first.resume()
    first.wait()
    checkout.snakemake("--until", "train")
    checkout.snakemake("verify")
    assert list((checkout / "results/resume").iterdir()) == []


def interrupted(checkout, rule, saves, how=signal.SIGKILL):
    """Interrupt a training after so many saves; returns the state that it leaves."""
    seen = set()

    def enough():
        for state in (checkout / "results/resume").glob("*/state"):
            seen.add(state.stat().st_mtime_ns)
        return len(seen) > saves

    killed_when(checkout, rule, enough, how)
    return read_state(checkout.only("resume/*/state"))


def killed_when(checkout, rule, ready, how=signal.SIGKILL):
    """Signal the whole process group, as a terminal or a machine that goes down does."""
    process = checkout.start("--until", rule)
    wait_for(ready, process)
    os.killpg(process.pid, how)
    said, _ = process.communicate()
    assert process.returncode != 0, said


def read_times(checkout, kind):
    return read_table(checkout.only(f"{kind}/*/times.csv"))["seconds"].tolist()
