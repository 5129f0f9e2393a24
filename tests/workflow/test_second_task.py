"""Continual learning from end to end: a net of all digits, task-1 in one layer, then task-2."""

import numpy as np
import pandas as pd
import pytest
from checkout import job_counts

from flatlas.store.arrays import read_arrays

TASK_1 = {
    "data": {"source": "digits", "only": [0, 1], "per_class": 40, "test_size": 30},
    "net": {"family": "dense", "hidden": [20, 20]},
    "start": {"run": "base", "fresh": ["fc2"]},
    "frozen": ["fc1", "fc3"],
    "optimizer": {"name": "sgd", "lr": 0.1},
    "batch": 10,
    "stop": {"loss_below": 0.01, "epochs": 300, "extra_epochs": 3},
    "snapshots": "fc2",
}
FORGETTING = {
    "measure": "forgetting", "layer": "fc2", "task": [2, 3], "strengths": [1, 100],
    "directions": [5, 20], "epochs": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def learnt(new_tiny):
    checkout = new_tiny()
    checkout.set_study("runs", "base", "net", "hidden", value=[20, 20])
    checkout.set_study("runs", "task_1", value=TASK_1)
    checkout.keep_one_figure({"run": "task_1", "points": [{}]}, FORGETTING)
    said = checkout.snakemake("--until", "measure_forgetting")
    counts = job_counts(said)
    assert counts == {"source": 1, "subset": 3, "train": 1, "record": 1, "measure_forgetting": 1}
    assert not {"measure_forgetting", "train"} & checkout.would_run().keys()
    return checkout


def test_only_the_fresh_layer_has_learnt_the_first_task(learnt):
    first = read_arrays(learnt.only("runs/*/weights.safetensors"))
    second = read_arrays(learnt.only("recordings/*/weights.safetensors"))
    for layer in ("fc1", "fc3"):
        name = f"final/{layer}.weight"
        assert second[name].tobytes() == first[name].tobytes()
    assert (second["final/fc2.weight"] != first["final/fc2.weight"]).all()
    assert pd.read_csv(learnt.only("recordings/*/outcomes.csv"))["converged"].all()


def test_each_task_has_its_own_images_with_the_labels_of_all_classes(learnt):
    labels = [
        set(pd.read_parquet(file)["label"])
        for file in (learnt / "results/data/subsets").glob("*/samples.parquet")
    ]
    assert sorted(map(sorted, labels)) == [[0, 1], list(range(10)), [2, 3]]


def test_the_measure_follows_both_tasks(learnt):
    folder = learnt.only("measures/forgetting/*")
    errors = pd.read_parquet(folder / "errors.parquet")
    free = errors[errors["strength"] == 0]
    assert set(errors["seed"]) == {0, 1} and set(errors["method"]) == {"ldc"}
    start, end = (free[free["time"] == time] for time in (0, 3))
    # The fresh layer knows the first task, and then the second.
    assert (start["epsilon_1"] < 0.1).all() and (start["epsilon_2"] > 0.5).all()
    assert (end["epsilon_2"].to_numpy() < start["epsilon_2"].to_numpy()).all()
    moved = pd.read_parquet(folder / "displacements.parquet")
    assert np.isfinite(moved["q"]).all() and moved["rank"].max() == 20
