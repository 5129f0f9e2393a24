"""A measure is taken at the moments that its study lists, and names the weights of each."""

import pandas as pd
import pytest

from flatlas.store.tables import read_table


def test_a_measure_at_checkpoints_says_whose_weights_they_are(tiny):
    """A training keeps its weights after 2 epochs, and after 199, long after its end."""
    tiny.keep_one_run()
    tiny.set_study("runs", "base", "checkpoints", value=[2, 199])
    tiny.set_study("measures", "hidden", "at", value=[2, 199, "final"])
    tiny.snakemake("--until", "measure_duality")
    (run,) = (tiny / "results/runs").iterdir()
    ended = pd.read_csv(run / "outcomes.csv").set_index("seed")["epoch"]
    assert ((ended > 2) & (ended < 199)).all()
    summary = read_table(tiny.only("measures/duality/*/summary.parquet"))
    assert list(summary[["seed", "at", "epoch"]].itertuples(index=False, name=None)) == [
        (seed, at, epoch)
        for seed in (0, 1)
        for at, epoch in (("2", 2), ("199", ended[seed]), ("final", ended[seed]))
    ]
    history = read_table(run / "history.parquet").set_index(["seed", "epoch"])["train_loss"]
    for row in summary.itertuples():
        assert row.train_loss == pytest.approx(history[row.seed, row.epoch], rel=1e-5)
