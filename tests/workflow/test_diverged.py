"""A run that diverges is a result: recorded as such, and the figures are drawn without it."""

import numpy as np
import pandas as pd
import pytest

from flatlas.store.tables import read_table


def test_a_diverged_run_is_recorded_and_the_figures_are_drawn(demo):
    before = pd.read_csv(demo / "results/tiny/duality/fig3.csv")
    demo.set_study("sweeps", "alpha", "grid", "optimizer.lr", 0, value=1e30)
    demo.snakemake()
    (run,) = (demo / "results/runs").glob("*sgd1e+30*")
    outcomes = pd.read_csv(run / "outcomes.csv")
    assert outcomes["reason"].tolist() == ["diverged", "diverged"]
    assert not outcomes["converged"].any()
    assert not np.isfinite(read_table(run / "history.parquet")["train_loss"].iloc[-1])

    drawn = pd.read_csv(demo / "results/tiny/duality/fig3.csv")
    assert np.isfinite(drawn["mean"]).all()
    kept = before[before["optimizer.lr"] == 0.1]
    pd.testing.assert_frame_equal(
        drawn[drawn["optimizer.lr"] == 0.1].reset_index(drop=True), kept.reset_index(drop=True)
    )
    assert 1e30 not in drawn["optimizer.lr"].tolist()
    assert demo.would_run() == {}


@pytest.mark.parametrize(("lr", "panels"), [(0.1, {"D", "E", "F"}), (1e25, set())])
def test_figures_are_drawn_of_sweeps_in_which_everything_diverges(demo, lr, panels):
    """Of one of the two sweeps, and of both."""
    demo.set_study("sweeps", "alpha", "grid", "optimizer.lr", value=[1e30, 1e29])
    demo.set_study("runs", "base", "optimizer", "lr", value=lr)
    demo.snakemake()
    assert set(pd.read_csv(demo / "results/tiny/duality/fig3.csv")["panel"]) == panels
    assert (pd.read_csv(demo / "results/tiny/duality/s4.csv").empty) is not bool(panels)
    assert demo.would_run() == {}
