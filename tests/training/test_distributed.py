"""Learners in separate processes do what learners stacked in one process do."""

import json
import os
import socket
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
from short_runs import DROPOUT, optimizer, quiet

from flatlas.errors import FlatlasError
from flatlas.store.arrays import read_arrays
from flatlas.store.lock import only_process
from flatlas.training import distributed
from flatlas.training.resume import Resume


def results(task):
    history = pd.read_parquet(task.outputs["history"])
    outcomes = pd.read_csv(task.outputs["outcomes"])
    return read_arrays(task.outputs["weights"]), history, outcomes


def assert_close(found, expected):
    for name, array in expected[0].items():
        np.testing.assert_allclose(found[0][name], array, rtol=0, atol=1e-6, err_msg=name)
    assert found[0].keys() == expected[0].keys()
    pd.testing.assert_frame_equal(found[1], expected[1], rtol=1e-5, atol=1e-6)
    pd.testing.assert_frame_equal(found[2], expected[2])


def dpsgd(count, mixing):
    return {"learners": {"kind": "dpsgd", "count": count, "mixing": mixing}}


CASES = {
    "ssgd": {"learners": {"kind": "ssgd", "count": 2}, **optimizer("momentum", lr=0.1)},
    "two in a ring": dpsgd(2, "ring"),
    "four in a ring": {
        **dpsgd(4, "ring"),
        **DROPOUT,
        "checkpoints": (0, 2),
        "average": {"from_epoch": 2},
    },
    "four, each with both and itself": dpsgd(4, "neighbourhood"),
    "three, all with all": {
        **dpsgd(3, "full"),
        **optimizer("adam", lr=0.01),
        "stop": {"epochs": 30, "loss_below": 0.8},
    },
}


@pytest.mark.parametrize("case", CASES)
def test_ranks_follow_the_stacked_trajectory(task, case):
    stacked, ranks = task("stacked", **CASES[case]), task("ranks", **CASES[case])
    stacked.run("cpu", quiet)
    by_forked_ranks(ranks, CASES[case]["learners"]["count"])
    assert_close(results(ranks), results(stacked))
    assert "final.learners/fc1.weight" in results(ranks)[0]


def test_a_killed_rank_ends_the_job_and_the_next_attempt_continues(task, monkeypatch, tmp_path):
    """torchrun starts the ranks of the first attempt; those of the next are forked to save time."""
    chosen = dpsgd(2, "ring") | optimizer("momentum", lr=0.01) | DROPOUT
    chosen["stop"] = {"epochs": 60}
    ranks, undisturbed = task("ranks", **chosen), task("undisturbed", **chosen)
    killed, known_by = [], {"RANK": "1", "FLATLAS_TEST": str(tmp_path)}
    monkeypatch.setenv("FLATLAS_TEST", str(tmp_path))

    def kill(done, *_, **__):
        if not killed and Resume(Path(ranks.resume)).find():
            killed.append(done)
            (rank,) = (
                process
                for process in psutil.process_iter(["environ"])
                if known_by.items() <= (process.info["environ"] or {}).items()
            )
            torchrun = rank.parent()
            assert f"{ranks.resume}.lock" in [file.path for file in torchrun.open_files()]
            rank.kill()

    with (
        pytest.raises(FlatlasError, match=r"learner 1 ended with exit code -9.*ranks/resume"),
        only_process(ranks.resume) as lock,
    ):
        distributed.run(ranks, 2, False, kill, lock)
    assert not Path(ranks.outputs["weights"]).exists()
    state, _ = Resume(Path(ranks.resume)).find()
    saved = state["times"].tolist()
    by_forked_ranks(ranks, 2)
    seconds = pd.read_csv(ranks.outputs["times"])["seconds"].tolist()
    assert 0 < len(saved) < len(seconds) == 60
    assert seconds[: len(saved)] == saved, "epochs that were saved were trained again"

    by_forked_ranks(undisturbed, 2)
    found, expected = results(ranks)[0], results(undisturbed)[0]
    assert {name: array.tobytes() for name, array in found.items()} == {
        name: array.tobytes() for name, array in expected.items()
    }


def by_forked_ranks(task, ranks):
    """Start ranks as torchrun does, but without the seconds in which each process loads torch."""
    path = Path(task.resume).with_name("task.json")
    path.write_text(json.dumps({"gpu": False, **asdict(task)}))
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
