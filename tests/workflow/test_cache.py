"""Checkouts share equal results, and only those, through Snakemake's cache."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from checkout import Checkout
from safetensors.numpy import load_file

from flatlas.store.tables import read_table


@pytest.fixture
def checkout(tiny, tmp_path):
    """Another checkout, of a study with one run."""
    tiny.keep_one_run()
    return lambda name: tiny.copy(tmp_path / name)


@pytest.fixture
def train(checkout, output_cache):
    """Train one run in a separate checkout."""

    def trained(name, **data):
        made = checkout(name)
        made.set_study("realizations", value=data.pop("realizations", 2))
        for key, value in data.items():
            made.set_study("runs", "base", "data", key, value=value)
        made.snakemake("--until", "train", "--cache", **output_cache)
        return made

    return trained


def weights(checkout):
    return load_file(checkout.only("runs/*/weights.safetensors"))


def drawn(checkout):
    return read_table(checkout.only("data/subsets/*/samples.parquet"))


def executed(checkout):
    """The rules whose scripts really ran: for a result from the cache the log stays empty."""
    logs = (checkout / "results/logs").glob("*/*.log")
    return sorted(log.parent.name for log in logs if log.read_text())


def test_a_run_without_it_says_nothing_about_it(tiny):
    assert "cach" not in tiny.snakemake("-n").lower()


def test_equal_trainings_are_shared_and_different_ones_are_not(train):
    first = train("first")
    assert executed(first) == ["source", "subset", "train"]

    again = train("again")
    assert executed(again) == []
    assert again.contents("runs/*/*") == first.contents("runs/*/*")

    # The same shapes, another draw of the images: only the seeds differ.
    one, two = train("one", split=1), train("two", split=2)
    assert executed(one) == executed(two) == ["subset", "train"]
    assert not drawn(one)["index"].equals(drawn(two)["index"])
    assert any((weights(one)[name] != weights(two)[name]).any() for name in weights(one))

    # A third realization beside the same two: another table, with the same draws in it.
    more = train("more", realizations=3)
    assert executed(more) == ["subset", "train"]
    assert drawn(more)["seed"].unique().tolist() == [0, 1, 2]
    assert drawn(more)[lambda table: table["seed"] < 2].equals(drawn(first))
    for name, array in weights(more).items():
        assert array.shape == (3, *weights(first)[name].shape[1:])
        np.testing.assert_allclose(array[:2], weights(first)[name], rtol=1e-3, atol=1e-3)


def test_jobs_on_a_cluster_use_it(checkout, output_cache, tmp_path):
    """A bare --cache, too. This cluster refuses all jobs; Snakemake then prints the command."""
    for name in ("sacct", "sbatch"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    output_cache["PATH"] = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    said = checkout("one").snakemake(
        "--until", "source", "--executor", "slurm", "--jobs", "1",
        "--default-resources", "slurm_partition=one",
        "--slurm-init-seconds-before-status-checks", "1", "--cache", fails=True, **output_cache,
    )  # fmt: skip
    (command,) = [line for line in said.splitlines() if "--wrap=" in line]
    assert " --cache 'source' " in command


# No training enters the cache before two have trained.
MEETING = r"""\1\2\1from os import environ, getpid
\1from time import sleep
\1here = Path(environ["MEETING"])
\1(here / str(getpid())).touch()
\1while len(list(here.iterdir())) < 2:
\1    sleep(0.05)
"""


# Numbers that no system has in its list of users or groups; permissions need no names.
USERS = (61001, 61002, 61003)
GROUP = 61000


@pytest.fixture(params=["one user", "several users"])
def users(request):
    """The owners of the checkouts: the same for all, or several who share a group."""
    if request.param == "one user":
        return (None, None, None)
    if os.geteuid() != 0:
        pytest.skip("only root can be several users")
    try:
        subprocess.run([sys.executable, "-c", "import yaml"], user=USERS[0], check=True)
    except OSError:
        pytest.skip(f"other users may not enter the folder of {os.path.realpath(sys.executable)}")
    return USERS


@pytest.fixture
def place():
    """A folder that everybody may enter, unlike pytest's."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def belonging_to(user, checkout, home):
    """The same checkout in the home of a user, who may write there and nowhere else."""
    root = shutil.copytree(checkout.root, home / "checkout")
    (home / "memory").mkdir()
    if user is not None:
        for path in (home, *home.rglob("*")):
            os.chown(path, user, GROUP)
    return Checkout(root, home / "memory", user, GROUP)


def test_two_trainings_at_once_share_a_cache(tiny, users, place):
    """Neither finds a training in the cache, so both train and store theirs; a third finds one."""
    tiny.keep_one_run()
    tiny.edit("workflow/scripts/train.py", r"( +)(backend = task\.run.*?\n)", MEETING)
    env = {}
    for name, variable in {"cache": "SNAKEMAKE_OUTPUT_CACHE", "meeting": "MEETING"}.items():
        (place / name).mkdir()
        os.chown(place / name, -1, GROUP if users[0] else -1)
        (place / name).chmod(0o2770)
        env[variable] = str(place / name)

    asked = ("--until", "train", "--cache")
    one, two, third = (
        belonging_to(user, tiny, place / home) for user, home in zip(users, "abc", strict=True)
    )
    for process in [each.start(*asked, **env) for each in (one, two)]:
        said, _ = process.communicate()
        assert process.returncode == 0, said
    third.snakemake(*asked, **env)
    assert "train" in executed(one) and "train" in executed(two)
    assert executed(third) == []
    made = one.contents("runs/*/[who]*")
    assert len(made) == 3
    assert two.contents("runs/*/[who]*") == third.contents("runs/*/[who]*") == made
