"""A run that diverges is recorded as such, and the figures are drawn without it."""

import numpy as np
import pandas as pd

from flatlas.store.arrays import read_arrays
from flatlas.store.tables import read_table


def test_what_diverges_is_recorded_and_the_figures_are_drawn_without_it(demo):
    """One of the two sweeps diverges; the points of the other stay the same."""
    before = pd.read_csv(demo / "results/tiny/duality/fig3.csv")
    demo.set_study("sweeps", "alpha", "grid", "optimizer.lr", value=[1e25, 1e29])
    demo.snakemake("duality_fig3", "duality_s4")
    runs = [*(demo / "results/runs").glob("*sgd1e+*")]
    assert len(runs) == 2
    for run in runs:
        outcomes = pd.read_csv(run / "outcomes.csv")
        assert outcomes["reason"].tolist() == ["diverged", "diverged"]
        assert not outcomes["converged"].any()
        assert not np.isfinite(read_table(run / "history.parquet")["train_loss"].iloc[-1])

    drawn = pd.read_csv(demo / "results/tiny/duality/fig3.csv")
    kept = before[before["panel"].isin(["D", "E", "F"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(drawn[kept.columns], kept, check_dtype=False)
    assert not pd.read_csv(demo / "results/tiny/duality/s4.csv").empty

    # Now everything diverges.
    demo.set_study("runs", "base", "optimizer", "lr", value=1e25)
    demo.snakemake()
    for figure in ("fig3", "s4"):
        assert pd.read_csv(demo / f"results/tiny/duality/{figure}.csv").empty
    assert demo.would_run() == {}


def test_a_loss_that_overflowed_is_not_measured_though_the_weights_are_still_numbers(tiny):
    """After a single step the weights are huge, but finite; the loss at them is not."""
    one_step = {"optimizer.lr": 1e30, "batch": 200}
    points = [{"optimizer.lr": 0.1, "batch": 20}, one_step]
    tiny.set_study("sweeps", "alpha", value={"run": "base", "points": points})
    tiny.snakemake("--until", "measure_duality")
    run = tiny.only("runs/*sgd1e+30*")
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
