"""The page docs/bring-your-own.md works as printed."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file
from test_adding import blocks
from test_folders import paint


@pytest.fixture
def with_own(pristine):
    """The repository as it is shipped, with a folder of images and a net of one's own."""
    files = ("my_nets.py", "mine.yaml", "save.py", "checkpoint.yaml")
    for name, text in zip(files, blocks("bring-your-own.md"), strict=True):
        (pristine / name).write_text(text)
    paint(pristine.root, seed=1, images=6, colours=3)
    return pristine


def test_own_images_and_an_own_net_are_measured(with_own):
    own = ("duality_s4", "--configfile", "mine.yaml")
    with_own.snakemake(*own)
    drawn = pd.read_csv(with_own / "results/demo/duality/s4.csv")
    assert drawn["seed"].tolist() == [0, 1]
    for measure, table, rows in (("hessian", "eigenvalues", 6), ("sharpness", "summary", 2)):
        file = with_own.only(f"measures/{measure}/*/{table}.parquet")
        assert len(pd.read_parquet(file)) == rows
    assert with_own.would_run(*own) == {}
    with_own.edit("my_nets.py", r"0\.1", "0.2")
    retaken = {f"measure_{one}": 1 for one in ("duality", "hessian", "sharpness")}
    assert with_own.would_run(*own) == {"train": 1, "duality_s4": 1} | retaken


def test_an_own_checkpoint_is_measured_as_it_is(with_own):
    """Of both realizations, whose images differ; a new file is measured again."""
    subprocess.run([sys.executable, "save.py"], cwd=with_own.root, check=True)
    own = ("duality_s4", "--configfile", "mine.yaml", "checkpoint.yaml")
    with_own.snakemake(*own)
    kept = load_file(with_own.only("runs/*/weights.safetensors"))
    given = load_file(with_own / "small.safetensors")
    for seed in range(2):
        np.testing.assert_array_equal(kept["final/fc.weight"][seed], given["6.weight"].T)
        np.testing.assert_array_equal(kept["final/features.0.weight"][seed], given["0.weight"])
    assert with_own.would_run(*own) == {}
    subprocess.run([sys.executable, "save.py"], cwd=with_own.root, check=True)
    # As old as a copy that keeps the time of the original.
    os.utime(with_own / "small.safetensors", (0, 0))
    assert with_own.would_run(*own)["train"] == 1
