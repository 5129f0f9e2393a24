"""Learners that are processes of their own do what learners stacked in one process do."""

import json
import os
import re
import signal
import socket
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from short_runs import quiet, run

from flatlas.errors import FlatlasError
from flatlas.store.arrays import read_arrays, write_arrays
from flatlas.store.tables import write_table
from flatlas.training import distributed
from flatlas.training.errand import Errand
from flatlas.training.resume import Resume

COUNT, TESTS = 48, 9
SSGD = {"kind": "ssgd", "count": 2}


@pytest.fixture
def errand(tmp_path):
    """A training as files: noisy images of three classes, two draws of them, and a spec."""
    rng = np.random.default_rng(0)
    labels = np.arange(2 * COUNT + TESTS) % 3
    images = rng.integers(0, 128, (len(labels), 1, 2, 3), dtype=np.uint8)
    images.reshape(len(labels), -1)[np.arange(len(labels)), labels] += 127
    write_arrays(
        tmp_path / "images.safetensors",
        {"train_images": images[: 2 * COUNT], "test_images": images[2 * COUNT :]},
    )
    rows = []
    for seed in (0, 1):
        chosen = rng.permutation(2 * COUNT)[:COUNT]
        rows += [(seed, "train", index, labels[index], labels[index]) for index in chosen]
        rows += [
            (seed, "test", i, labels[2 * COUNT + i], labels[2 * COUNT + i]) for i in range(TESTS)
        ]
    table = pd.DataFrame(rows, columns=["seed", "part", "index", "label", "true_label"])
    write_table(tmp_path / "samples.parquet", table)

    def made(name, **chosen):
        folder = tmp_path / name
        folder.mkdir()
        kinds = {"weights": "safetensors", "history": "parquet", "outcomes": "csv", "times": "csv"}
        return Errand(
            spec=run(seeds=(0, 1), batch=3, **chosen).resolved(),
            images=str(tmp_path / "images.safetensors"),
            samples=str(tmp_path / "samples.parquet"),
            start=None,
            outputs={name: str(folder / f"{name}.{kind}") for name, kind in kinds.items()},
            resume=str(folder / "resume"),
            identity="",
            place="",
        )

    return made


def results(errand):
    history = pd.read_parquet(errand.outputs["history"])
    outcomes = pd.read_csv(errand.outputs["outcomes"])
    return read_arrays(errand.outputs["weights"]), history, outcomes


def assert_close(found, expected):
    for name, array in expected[0].items():
        np.testing.assert_allclose(found[0][name], array, rtol=0, atol=1e-6, err_msg=name)
    assert found[0].keys() == expected[0].keys()
    pd.testing.assert_frame_equal(found[1], expected[1], rtol=1e-5, atol=1e-6)
    pd.testing.assert_frame_equal(found[2], expected[2])


CASES = {
    "ssgd": {
        "learners": SSGD,
        "optimizer": {"name": "momentum", "lr": 0.1},
    },
    "two in a ring": {"learners": {"kind": "dpsgd", "count": 2, "mixing": "ring"}},
    "four in a ring": {
        "learners": {"kind": "dpsgd", "count": 4, "mixing": "ring"},
        "net": {"family": "dense", "hidden": (8, 6), "bias": True, "dropout": 0.1},
        "checkpoints": (0, 2),
        "average": {"from_epoch": 2},
    },
    "four, each with both and itself": {
        "learners": {"kind": "dpsgd", "count": 4, "mixing": "neighbourhood"},
    },
    "three, all with all": {
        "learners": {"kind": "dpsgd", "count": 3, "mixing": "full"},
        "optimizer": {"name": "adam", "lr": 0.01},
        "stop": {"epochs": 30, "loss_below": 0.8},
    },
}


@pytest.mark.parametrize("case", CASES)
def test_ranks_follow_the_stacked_trajectory(errand, case):
    stacked, ranks = errand("stacked", **CASES[case]), errand("ranks", **CASES[case])
    stacked.carry_out("cpu", quiet)
    by_forked_ranks(ranks, CASES[case]["learners"]["count"])
    assert_close(results(ranks), results(stacked))
    assert "final.learners/fc1.weight" in results(ranks)[0]


def test_a_rank_that_dies_ends_the_job_which_then_goes_on(errand):
    """By torchrun; the rank is killed as a node that goes down kills it.

    It goes on in ranks that are forked: what torchrun adds to them, the first start shows.
    """
    chosen = {
        "learners": {"kind": "dpsgd", "count": 2},
        "optimizer": {"name": "momentum", "lr": 0.01},
        "net": {"family": "dense", "hidden": (8, 6), "bias": True, "dropout": 0.1},
        "stop": {"epochs": 30},
    }
    ranks, undisturbed = errand("ranks", **chosen), errand("undisturbed", **chosen)
    killed = []

    def kill(done, *_, **__):
        if not killed and Resume(Path(ranks.resume)).find():
            killed.append(done)
            os.kill(process_of(rank=1), signal.SIGKILL)

    with pytest.raises(FlatlasError, match=r"learner 1 ended with exit code -9.*results/resume"):
        distributed.carry_out(ranks, 2, False, kill)
    assert not Path(ranks.outputs["weights"]).exists()
    state, _ = Resume(Path(ranks.resume)).find()
    saved = state["times"].tolist()
    by_forked_ranks(ranks, 2)
    seconds = pd.read_csv(ranks.outputs["times"])["seconds"].tolist()
    assert 0 < len(saved) < len(seconds) == 30
    assert seconds[: len(saved)] == saved, "it went on from there"

    by_forked_ranks(undisturbed, 2)
    found, expected = results(ranks)[0], results(undisturbed)[0]
    assert {name: array.tobytes() for name, array in found.items()} == {
        name: array.tobytes() for name, array in expected.items()
    }


def test_snapshots_stay_in_one_process(errand):
    stop = {"epochs": 2, "extra_epochs": 1}
    recorded = errand("ranks", learners=SSGD, snapshots="fc1", stop=stop)
    with pytest.raises(FlatlasError, match="distributed: false"):
        distributed.carry_out(recorded, 2, False, quiet)


def by_forked_ranks(errand, ranks):
    """What torchrun does, without the seconds that loading torch takes in each process."""
    path = Path(errand.resume).with_name("errand.json")
    path.write_text(json.dumps({"gpu": False, **asdict(errand)}))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    def one(rank):
        place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "MASTER_PORT": port}
        os.environ.update({name: str(value) for name, value in place.items()})
        os.environ["MASTER_ADDR"] = "127.0.0.1"
        distributed.main(str(path))

    processes = [get_context("fork").Process(target=one, args=(rank,)) for rank in range(ranks)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * ranks


def process_of(rank):
    """The number of a rank's process, which torchrun started for this one."""
    mine = os.getpid()
    for folder in Path("/proc").glob("[0-9]*"):
        if mine in ancestors(folder) and f"RANK={rank}" in environment(folder):
            return int(folder.name)
    raise AssertionError(f"no process has rank {rank}")


def environment(folder):
    try:
        return (folder / "environ").read_text().split("\0")
    except OSError:
        return []


def ancestors(folder):
    found = []
    while folder.exists() and folder.name != "1":
        parent = re.search(r"PPid:\s+(\d+)", (folder / "status").read_text())[1]
        found.append(int(parent))
        folder = folder.with_name(parent)
        if parent == "0":
            break
    return found
