"""The Boolean system from end to end: the functions of random nets, and nets that learn them."""

import numpy as np
import pandas as pd
import pytest
import yaml
from test_by_hand import assert_repeats

from flatlas.plan import code
from flatlas.plan.data_specs import FunctionsSpec

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
def boolean(new_tiny):
    """A checkout in which the functions of three bits were learnt and measured."""
    checkout = new_tiny()
    config = checkout / "config/config.yaml"
    settings = yaml.safe_load(config.read_text())
    settings["sources"]["cube"] = {"kind": "boolean", "bits": 3}
    config.write_text(yaml.safe_dump(settings))
    checkout.set_study("realizations", value=REALIZATIONS)
    checkout.set_study("runs", "base", value=BASE)
    checkout.keep_one_figure({"run": "base", "points": [{}]}, {"measure": "boolean_prior"})
    checkout.snakemake("--until", "measure_boolean_prior")
    return checkout


def table(checkout, pattern):
    file = checkout.only(pattern)
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


def test_by_hand_the_job_gives_the_same_bytes_by_the_code_of_its_fingerprint(boolean):
    job = boolean.only("logs/functions/*.json")
    loaded = assert_repeats(
        boolean,
        "functions",
        job,
        "data/functions/*/*.parquet",
        lambda spec: code.net_modules(FunctionsSpec.model_validate(spec).net),
    )
    assert "flatlas.nets.dense" in loaded
    assert len(boolean.contents("by-hand/data/functions/*/*.parquet")) == 2
