"""A run that diverges is a result: recorded as such, and the figures are drawn without it."""

import numpy as np
import pandas as pd
import pytest

from flatlas.store.arrays import read_arrays
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


def test_a_loss_that_overflowed_is_not_measured_though_the_weights_are_still_numbers(tiny):
    """After a single step the weights are huge, but finite; the loss at them is not."""
    one_step = {"optimizer.lr": 1e30, "batch": 200}
    points = [{"optimizer.lr": 0.1, "batch": 20}, one_step]
    tiny.set_study("sweeps", "alpha", value={"run": "base", "points": points})
    tiny.snakemake("--until", "measure_duality")
    (run,) = (tiny / "results/runs").glob("*sgd1e+30*")
    assert pd.read_csv(run / "outcomes.csv")["reason"].tolist() == ["diverged", "diverged"]
    weights = read_arrays(run / "weights.safetensors")
    assert all(np.isfinite(array).all() for array in weights.values())
    for name in ("summary", "directions"):
        lengths = {
            path.parent.name.split("-b")[0]: len(read_table(path))
            for path in (tiny / "results/measures/duality").glob(f"*/{name}.parquet")
        }
        diverged = [length for run, length in lengths.items() if run.endswith("sgd1e+30")]
        assert diverged == [0]
        assert all(length > 0 for run, length in lengths.items() if run.endswith("sgd0.1"))
