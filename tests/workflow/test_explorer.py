"""The measure table of the atlas and the explorer, from a run with wrong labels to the page."""

import json

import pandas as pd
import pytest
import yaml
from checkout import TINY, job_counts
from node import DATA
from test_by_hand import assert_repeats

# Its first run is one of the tiny study, which is trained already; in the second, four of 200
# training labels are wrong.
ATLAS = {
    "title": "Atlas",
    "paper": "None",
    "realizations": 2,
    "runs": TINY["runs"],
    "sweeps": {"noise": {"run": "base", "grid": {"data.label_noise": [0.0, 0.02]}}},
    "measures": {"norms": {"measure": "norms", "at": ["met"]}},
    "figures": {"fig1": {"title": "One", "sweeps": ["noise"], "measures": ["norms"]}},
}


@pytest.fixture(scope="module")
def explored(finished, tmp_path_factory):
    """The finished tiny study, the networks of an atlas, and the explorer that shows both."""
    checkout = finished.copy(tmp_path_factory.mktemp("explored") / "study")
    (checkout / "config/studies/atlas.yaml").write_text(yaml.safe_dump(ATLAS))
    jobs = job_counts(checkout.snakemake("explorer", "--config", "complete=false"))
    made = {"label_noise": 1, "train": 1, "measure_norms": 2, "atlas_networks": 1}
    assert jobs == made | {"scorecard": 1, "explorer": 1}
    return checkout


def test_the_given_share_of_training_labels_is_wrong(explored):
    noisy = pd.read_parquet(explored.only("data/label_noise/*/samples.parquet"))
    wrong = noisy[noisy["label"] != noisy["true_label"]]
    assert wrong.groupby(["seed", "part"]).size().to_dict() == {(0, "train"): 4, (1, "train"): 4}


def test_the_table_has_the_settings_and_the_measured_errors_of_each_network(explored):
    table = pd.read_csv(explored / "results/tiny/atlas/networks.csv")
    assert sorted(zip(table["data.label_noise"], table["seed"], strict=True)) == [
        *((0.0, 0), (0.0, 1), (0.02, 0), (0.02, 1))
    ]
    for run, rows in table.groupby("run"):
        words, _, _ = run.rpartition("-")
        measured = pd.read_parquet(explored.only(f"measures/norms/{words}-*/summary.parquet"))
        for name in ("train_error", "test_error"):
            assert rows[name].tolist() == pytest.approx(measured[name].tolist())


def test_the_page_has_these_networks_and_all_claims(explored):
    tiny = explored / "results/tiny"
    data = json.loads(DATA.search((tiny / "explorer.html").read_text())[1])
    table, claims = pd.read_csv(tiny / "atlas/networks.csv"), pd.read_csv(tiny / "scorecard.csv")
    assert data["run"] == table["run"].tolist() and data["seed"] == table["seed"].tolist()
    assert len(data["claims"]) == len(claims) > 0
    nets = {f"{run} {seed}" for run, seed in zip(data["run"], data["seed"], strict=True)}
    assert data["curves"].keys() == nets


@pytest.mark.parametrize(
    ("script", "job", "results"),
    [
        ("label_noise", "label_noise/*.json", "data/label_noise/*/*.parquet"),
        ("networks", "*/*atlas_networks*.json", "tiny/atlas/networks.csv"),
        ("explorer", "*/*explorer*.json", "tiny/explorer.html"),
    ],
)
def test_by_hand_the_job_gives_the_same_bytes_by_the_code_of_its_fingerprint(
    explored, script, job, results
):
    assert_repeats(explored, script, explored.only(f"logs/{job}"), results, lambda spec: [])
