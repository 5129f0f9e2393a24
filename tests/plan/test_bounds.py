"""Values beyond their limits, invalid names and invalid paths are refused with their key."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from pydantic import ValidationError

from flatlas.errors import FlatlasError
from flatlas.plan.requests import refuse_beyond_machine
from flatlas.plan.training_specs import Momentum

USER = "config/config.yaml (or --configfile, --config): "
FLAT = "studies.flat."
BASE = f"{FLAT}runs.base."
GRID = f"{FLAT}sweeps.batch.grid"

EXPANDS = {
    "checkpoints": (f"{BASE}checkpoints", ["0..2000000000"], "10,000"),
    "digits": (f"{BASE}overtraining", [f"{'9' * 5000}..{'9' * 5001}"], "fewer digits"),
    "realizations": (f"{FLAT}realizations", 10**9, "100000"),
    "realizations of a run": (f"{BASE}realizations", 10**30, "100000"),
    "split": (f"{BASE}data.split", 10**30, "9223372036854775808"),
    "images": (f"{BASE}data.test_size", 10**30, "1000000000"),
    "width": (f"{BASE}net.hidden", [10**9], "10000000"),
    "layers": (f"{BASE}net.hidden", [1] * 1001, "1000 values"),
    "epochs": (f"{BASE}stop.epochs", 10**12, "100000000"),
    "rate": (f"{BASE}optimizer.lr", 1e308, "1000000000000"),
    "blocks": (f"{BASE}net", {"family": "resnet", "blocks": [1] * 11}, "10 values"),
    "depth": (f"{BASE}net", {"family": "preactivation", "depth": 6 * 10**9 + 2}, "9000"),
    "moments": (f"{FLAT}measures.hidden.at", [*range(20_002)], "20001 values"),
    "side of images": ("sources.t", {"kind": "textures", "side": 10**9}, "10000"),
    "combinations": (GRID, {"batch": [*range(1, 200)], "optimizer.lr": [*range(1, 200)]}, "39,601"),
}


@pytest.mark.parametrize("what", EXPANDS)
def test_a_value_beyond_its_limit_is_refused(refused, what):
    key, value, limit = EXPANDS[what]
    message = refused(user={key: value})
    assert message.startswith(f"{USER}{key.removesuffix('.grid')}")
    assert limit in message
    assert len(message) < 600


def test_a_share_that_a_mean_keeps_is_refused_if_float32_rounds_it_to_1():
    for share in (1 - 2**-24, 1 - 2**-25 - 2**-53, 1 - 2**-25, 1 - 2**-26):
        rounded = float(np.float32(share)) == 1
        with pytest.raises(ValidationError, match="float32") if rounded else nullcontext():
            Momentum(name="momentum", lr=0.1, momentum=share)


def test_a_share_of_wrong_labels_is_not_in_float32(refused):
    """It is refused for how many labels it makes wrong."""
    message = refused(user={f"{BASE}data.label_noise": 1 - 2**-26})
    assert "labels wrong" in message


def test_ten_thousand_moments_are_allowed(plan_of):
    kept = ["0..99990000/10000"]
    study = {"runs.base.stop.extra_epochs": 10**8, "measures.hidden.at": ["all"]}
    plan = plan_of(study={"runs.base.checkpoints": kept, "runs.base.overtraining": kept} | study)
    assert {len(run.checkpoints) for run in plan.runs.values()} == {10_000}


def test_too_many_runs_are_refused_with_their_sweep(refused, monkeypatch):
    """Each of the two numbers would be allowed alone."""
    monkeypatch.setattr("flatlas.plan.declared_study.MOST_WORKED_OUT", 10**6)
    grid = {"batch": [*range(1, 20)]}
    message = refused(user={GRID: grid, f"{FLAT}realizations": 90_000})
    assert message.startswith(f"{USER}{FLAT}sweeps.batch ")
    assert "90,000 realizations" in message


EIGENVALUES = {"measures.hidden": {"measure": "hessian", "top": 10**6}}


@pytest.mark.parametrize(
    ("hidden", "more", "place"),
    [
        ([10**6, 10**6], {}, "runs.base.net of the training digits-10pc-dense"),
        ([10**5] * 30, {}, "runs.base.net of the training digits-10pc-dense"),
        ([1000, 1000], EIGENVALUES, "measures.hidden.measure of digits-10pc-"),
    ],
)
def test_a_job_that_fits_into_no_machine_is_refused(refused, hidden, more, place):
    message = refused(study={"runs.base.net.hidden": hidden} | more)
    assert message.startswith(f"config/studies/flat.yaml: {place}")
    assert "GB of memory. Allowed: up to 20,000 GB." in message


def job(name, mem_mb):
    rule = SimpleNamespace(name="train")
    return SimpleNamespace(rule=rule, wildcards=[name], resources={"mem_mb": mem_mb})


def test_a_job_beyond_the_memory_of_this_machine_is_refused():
    families = {"known": "dense", "mine": "own"}
    jobs = {n: SimpleNamespace(spec={"net": {"family": of}}) for n, of in families.items()}
    refuse_beyond_machine([job("known", 2000), job("mine", 9 * 10**9)], jobs)
    with pytest.raises(FlatlasError, match=r"^train known would need up to 9,000,000,000 MB"):
        refuse_beyond_machine([job("known", 2000), job("known", 9 * 10**9)], jobs)


@pytest.mark.parametrize("path", ["{wild}", "a\nb", "a\0b", "", "a/" + "x" * 256, "x/" * 600])
@pytest.mark.parametrize("key", ["data_root", "before", "sources.f"])
def test_an_invalid_path_is_refused(refused, path, key):
    folder = {"kind": "folder", "path": path, "classes": 2}
    message = refused(user={key: folder if key == "sources.f" else path})
    assert message.startswith(f"{USER}{key}")
    assert "\n" not in message


@pytest.mark.parametrize("key", ["data_root", "before", "after"])
def test_the_home_of_a_user_who_does_not_exist_is_refused(refused, key):
    assert "'~no-such-user/data'" in refused(user={key: "~no-such-user/data"})


LONG_PATH = {"sources.digits": {"kind": "folder", "path": "é" * 120, "classes": 2}}
DEEP_NET = {"runs.base.net.hidden": [100] * 200}


@pytest.mark.parametrize("changes", [{"user": LONG_PATH}, {"study": DEEP_NET}])
def test_a_long_path_and_a_deep_net_have_short_file_names(plan_of, changes):
    plan = plan_of(**changes)
    names = [*plan.runs, *plan.measurements, *plan.samples]
    assert max(len(f"{name}.log".encode()) for name in names) < 200


@pytest.mark.parametrize("kind", ["figures", "sweeps", "runs", "measures"])
@pytest.mark.parametrize("name", ["x" * 300, "{wild}", "a/b", "a b", "../x", "-a"])
def test_an_invalid_name_is_refused(refused, kind, name):
    message = refused(user={(*f"{FLAT}{kind}".split("."), name): {}})
    assert message.startswith(f"{USER}{FLAT}{kind}")
    assert "at most 100 letters" in message


@pytest.mark.parametrize(
    ("sweep", "grid", "key"),
    [
        ("batch", {"realizations": [True]}, "realizations"),
        ("batch", {"net.hidden": [[4, True]]}, "net.hidden.1"),
        ("batch", {"optimizer.lr": [0.1], "optimizer": [1]}, "optimizer"),
        # The study sweeps a key inside.
        ("alpha", {"optimizer": [1]}, "optimizer"),
    ],
)
def test_the_key_of_the_users_own_grid_is_blamed(refused, sweep, grid, key):
    message = refused(user={f"{FLAT}sweeps.{sweep}.grid": grid})
    assert message.startswith(f"{USER}{FLAT}sweeps.{sweep}.grid.{key} is ")


def test_a_long_list_of_mistakes_is_cut(refused):
    message = refused(user={f"{BASE}batches{number}": 1 for number in range(1000)})
    assert len(message.splitlines()) < 30
    assert "and 980 more" in message


@pytest.mark.parametrize(
    ("net", "layer"),
    [
        ({"family": "convolutional", "stages": [{"channels": 2, "kernel": 9}]}, 1),
        ({"family": "convolutional", "stages": [{"channels": 2, "kernel": 3, "pool": 7}]}, 2),
        ({"family": "densenet", "blocks": [1] * 6}, 14),
    ],
)
def test_a_net_that_shrinks_its_images_to_nothing_is_refused(refused, net, layer):
    message = refused(study={"runs.base.net": net})
    said = f"leaves nothing of an image of 8 x 8 in layer {layer}: "
    assert message.startswith(f"config/studies/flat.yaml: runs.base.net {said}")


def test_a_kernel_may_be_as_large_as_the_image(plan_of):
    net = {"family": "convolutional", "stages": [{"channels": 2, "kernel": 8}], "hidden": [3]}
    assert plan_of(study={"runs.base.net": net}).runs
