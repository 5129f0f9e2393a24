"""A training that is killed goes on when asked again, to the very bytes it would have reached."""

import csv
import os
import random
import shutil
import signal
import time

import numpy as np
import pytest
from checkout import Checkout, copied, with_tiny_study
from safetensors.numpy import load_file

# No loss is ever this low: both trainings take all their epochs, and some seconds.
PLAIN = {"stop": {"loss_below": 1e-12, "epochs": 1500}}
RECORDED = {"stop": {"epochs": 200, "extra_epochs": 800}, "snapshots": "fc2"}
CASES = {"train": PLAIN, "record": RECORDED}
UNLIKE = {"times.csv", "provenance.json"}


@pytest.fixture(scope="module")
def one_run(tmp_path_factory, memory):
    """The tiny study with one run, whose data are made."""
    root = with_tiny_study(copied(tmp_path_factory.mktemp("one_run") / "checkout"))
    checkout = Checkout(root, memory)
    checkout.keep_one_run()
    checkout.snakemake("--until", "subset")
    return checkout


def long_run(checkout, rule, folder):
    """A copy in which the one training is long; `rule` says of which kind."""
    copy = copy_of(checkout, folder)
    for key, value in CASES[rule].items():
        copy.set_study("runs", "base", key, value=value)
    return copy


def copy_of(checkout, folder):
    return Checkout(shutil.copytree(checkout.root, folder / "checkout"), checkout.memory)


@pytest.fixture(scope="module")
def stopped(one_run, tmp_path_factory):
    """A checkout whose training was killed, and the state that it left."""
    checkout = long_run(one_run, "train", tmp_path_factory.mktemp("stopped"))
    state = interrupted(checkout, "train", signal.SIGKILL, saves=5)
    checkout.snakemake("--unlock")
    return checkout, state


def test_a_training_killed_again_and_again_ends_as_one_that_was_not(one_run, tmp_path):
    rule, room = "train", "runs"
    checkout = long_run(one_run, rule, tmp_path)
    epochs = []
    for seed in range(2):
        state = interrupted(checkout, rule, signal.SIGKILL, saves=random.Random(seed).randint(2, 9))
        assert checkout.contents(f"{room}/*/*") == {}, "nothing that could be taken for a result"
        epochs.append(state["times"].tolist())
        assert "--unlock" in checkout.snakemake("--until", rule, fails=True)
        checkout.snakemake("--unlock")
    killed_when(checkout, rule, lambda: checkout.contents(f"{room}/*/weights.safetensors"))
    checkout.snakemake("--unlock")

    checkout.snakemake("--until", rule)
    resumed = checkout.contents(f"{room}/*/*")
    seconds = read_times(checkout, room)
    for told in epochs:
        assert told == seconds[: len(told)], "each went on from where the one before was"
    assert len(epochs[0]) < len(epochs[1]) < len(seconds)
    assert list((checkout / "results/resume").iterdir()) == []

    checkout.snakemake("--until", rule, "--forcerun", rule)
    assert read_times(checkout, room) != seconds, "a training of its own"
    whole = checkout.contents(f"{room}/*/*")
    assert [name for name in whole if whole[name] != resumed.get(name)] == [
        name for name in whole if name.rpartition("/")[2] in UNLIKE
    ]


def test_after_ctrl_c_the_same_command_goes_on(one_run, tmp_path):
    """Ctrl-C reaches Snakemake and its jobs alike, and nothing needs unlocking.

    This one records a trajectory, which goes on where it was, too.
    """
    checkout = long_run(one_run, "record", tmp_path)
    state = interrupted(checkout, "record", signal.SIGINT, saves=3)
    assert checkout.contents("recordings/*/*") == {}
    checkout.snakemake("--until", "record")
    assert read_times(checkout, "recordings")[: len(state["times"])] == state["times"].tolist()
    (trajectory,) = (checkout / "results/recordings").glob("*/trajectory.npy")
    assert np.isfinite(np.load(trajectory)).all()


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("data/subset.py", '"training images"', '"other images"'),
        ("plan/training_specs.py", "coefficient: (.*?) = 0.0", r"coefficient: \1 = 0.001"),
    ],
    ids=["other images", "another default"],
)
def test_what_was_trained_otherwise_is_not_gone_on_with(stopped, tmp_path, path, old, new):
    """Neither edit moves the run: its id tells which values were chosen, not what they lead to."""
    before, state = stopped
    checkout = copy_of(before, tmp_path)
    (begun,) = (checkout / "results/resume").iterdir()
    checkout.edit(f"workflow/flatlas/{path}", old, new)

    checkout.snakemake("--until", "train")
    assert {path.name for path in (checkout / "results/runs").iterdir()} == {begun.name}
    assert read_times(checkout, "runs")[: len(state["times"])] != state["times"].tolist()
    assert list((checkout / "results/resume").iterdir()) == []


def interrupted(checkout, rule, how, saves):
    """Interrupt a training after so many saves; gives the state that it leaves."""
    seen = set()

    def enough():
        for state in (checkout / "results/resume").glob("*/state.safetensors"):
            seen.add(state.stat().st_mtime_ns)
        return len(seen) > saves

    killed_when(checkout, rule, enough, how)
    (state,) = (checkout / "results/resume").glob("*/state.safetensors")
    return load_file(state)


def killed_when(checkout, rule, ready, how=signal.SIGKILL):
    """Signal the whole process group, as a terminal or a machine that goes down does."""
    process = checkout.start("--until", rule)
    while not ready():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.001)
    os.killpg(process.pid, how)
    said, _ = process.communicate()
    assert process.returncode != 0, said


def read_times(checkout, room):
    (file,) = (checkout / "results" / room).glob("*/times.csv")
    return [float(row["seconds"]) for row in csv.DictReader(file.open())]
