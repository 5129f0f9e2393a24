"""One thread, which is enough for small matrices; and a training from files to files."""

import numpy as np
import pandas as pd
import pytest
import torch
from short_runs import run, samples

from flatlas.store.arrays import write_arrays
from flatlas.store.tables import write_table
from flatlas.training.task import TrainingTask

TABLES = {"weights": "safetensors", "history": "parquet", "outcomes": "csv", "times": "csv"}


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def task(tmp_path):
    """Makes trainings of a spec on files: 24 of 48 images for each of two seeds."""
    source = samples((0,), count=48)
    images = {"train_images": source.inputs, "test_images": source.test_inputs}
    write_arrays(
        tmp_path / "images.safetensors",
        {name: np.rint(255 * pixels[0]).astype(np.uint8) for name, pixels in images.items()},
    )
    rows = [
        (seed, part, index, index % 3, index % 3)
        for seed in (0, 1)
        for part, indices in (("train", range(seed, seed + 24)), ("test", range(9)))
        for index in indices
    ]
    columns = ["seed", "part", "index", "label", "true_label"]
    write_table(tmp_path / "samples.parquet", pd.DataFrame(rows, columns=columns))

    def made(name, place="", **chosen):
        folder = tmp_path / name
        folder.mkdir()
        return TrainingTask(
            spec=run(seeds=(0, 1), batch=3, **chosen).resolved(),
            images=str(tmp_path / "images.safetensors"),
            samples=str(tmp_path / "samples.parquet"),
            start=None,
            outputs={table: str(folder / f"{table}.{kind}") for table, kind in TABLES.items()},
            resume=str(folder / "resume"),
            identity="",
            place=place,
        )

    return made
