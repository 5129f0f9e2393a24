"""The Boolean system from end to end: random nets, their functions, nets that learn these."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml
from checkout import Checkout, copied, with_tiny_study

from flatlas.plan import code
from flatlas.plan.data_specs import FunctionsSpec
from flatlas.plan.fingerprint import closure

REALIZATIONS, INPUTS = 12, 8
BASE = {
    "data": {"source": "cube", "functions": {"draws": 20_000}},
    "net": {
        "family": "dense", "hidden": [20, 20], "bias": True, "init": {"scheme": "scaled_normal"},
    },
    "optimizer": {"name": "sgd", "lr": 0.2},
    "batch": 4,
    "stop": {"zero_error": True, "epochs": 3000},
}  # fmt: skip


@pytest.fixture(scope="module")
def boolean(tmp_path_factory, memory):
    """A checkout in which the functions of three bits were learnt and measured."""
    root = with_tiny_study(copied(tmp_path_factory.mktemp("boolean") / "checkout"))
    checkout = Checkout(root, memory)
    config = checkout / "config/config.yaml"
    settings = yaml.safe_load(config.read_text())
    settings["sources"]["cube"] = {"kind": "boolean", "bits": 3}
    config.write_text(yaml.safe_dump(settings))
    checkout.set_study("realizations", value=REALIZATIONS)
    checkout.set_study("runs", "base", value=BASE)
    checkout.set_study("sweeps", value={"one": {"run": "base", "points": [{}]}})
    checkout.set_study("measures", value={"prior": {"measure": "boolean_prior"}})
    figure = {"title": "Three", "sweeps": ["one"], "measures": ["prior"]}
    checkout.set_study("figures", value={"s4": figure})
    checkout.snakemake("--until", "measure_boolean_prior")
    return checkout


def table(checkout, pattern):
    (file,) = (checkout / "results").glob(pattern)
    return pd.read_csv(file) if file.suffix == ".csv" else pd.read_parquet(file)


def test_every_realization_learns_its_function(boolean):
    outcomes = table(boolean, "runs/*/outcomes.csv")
    assert outcomes["converged"].all() and len(outcomes) == REALIZATIONS
    summary = table(boolean, "measures/boolean_prior/*/summary.parquet")
    functions = table(boolean, "data/functions/*/functions.parquet")
    assert summary["is_target"].all()
    assert summary["function"].tolist() == functions["function"].tolist()
    for name in ("count", "probability", "standard_error"):
        assert summary[name].tolist() == functions[name].tolist()
    np.testing.assert_allclose(10 ** summary["log10_p"], functions["probability"])
    assert functions["count"].is_monotonic_decreasing
    assert functions["function"].nunique() == REALIZATIONS


def test_training_and_testing_show_all_inputs_under_the_same_labels(boolean):
    samples = table(boolean, "data/functions/*/samples.parquet")
    functions = table(boolean, "data/functions/*/functions.parquet")["function"]
    assert (samples["label"] == samples["true_label"]).all()
    for (seed, _), rows in samples.groupby(["seed", "part"]):
        assert rows["index"].tolist() == list(range(INPUTS))
        bits = "".join(map(str, rows["label"]))
        assert f"{int(bits, 2):02x}" == functions[seed]


def test_the_job_by_hand_gives_the_same_bytes_and_its_fingerprint_knows_its_code(
    boolean, monkeypatch
):
    (job,) = (boolean / "results/logs/functions").glob("*.json")
    params = json.loads(job.read_text())["params"]
    spec = FunctionsSpec.model_validate(params["spec"])
    assert code.stage_code("functions", *code.functions_modules(spec)) == params["code"]
    loaded = boolean.by_hand("functions", job)
    monkeypatch.setattr(code, "fingerprint", lambda *roots: roots)
    assert "flatlas.nets.dense" in loaded
    assert loaded <= {
        str(root) for root in closure(code.stage_code("functions", *code.functions_modules(spec)))
    }
    again = boolean.contents("by-hand/data/functions/*/*.parquet")
    assert len(again) == 2
    assert all(
        boolean.contents("data/functions/*/*")[name.removeprefix("by-hand/")] == made
        for name, made in again.items()
    )
