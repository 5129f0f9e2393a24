"""The times of a run are kept for the pages, beside those of earlier runs."""

import figures
import pandas as pd
import pytest
from keep_costs import keep

from flatlas.report import estimates
from flatlas.report.costs import cost_of_targets, middle_jobs, needed_jobs
from flatlas.report.estimates import JobCost, shipped_costs
from flatlas.store.tables import write_table

NEEDED = {"one": ["images", "one"], "other": ["images", "run", "other"]}
UNMADE = {
    "images": JobCost("source", "", 1.0),
    "run": JobCost("train", "dense30", 10.0),
    "one": JobCost("figure", "", 1.0),
    "other": JobCost("figure", "", 1.0),
}


def run(folder, larger=1, **seconds):
    """What `snakemake costs` writes after these jobs, each `larger` times its usual size."""
    folder.mkdir()
    jobs = UNMADE | {
        name: JobCost(UNMADE[name].stage, UNMADE[name].net, larger * UNMADE[name].units, taken)
        for name, taken in seconds.items()
    }
    known = [one for one in jobs.values() if one.ran]
    write_table(folder / "costs.csv", cost_of_targets(needed_jobs(jobs, NEEDED, known)))
    write_table(folder / "costs_by_job.csv", middle_jobs(jobs))
    return folder


def test_only_targets_whose_jobs_all_ran_have_times_and_the_latest_counts(tmp_path):
    first = run(tmp_path / "first", images=1.0, one=2.0)
    second = run(tmp_path / "second", images=3.0, run=40.0, other=5.0)
    assert keep(first, tmp_path, "paper") == ["one"]
    assert keep(second, tmp_path, "paper") == ["other"]
    assert keep(run(tmp_path / "third", images=4.0, one=2.0), tmp_path, "paper") == ["one"]
    times = pd.read_csv(tmp_path / "paper.csv").set_index("target")["measured_seconds"]
    assert times.to_dict() == {"one": 6.0, "other": 48.0}


def test_estimates_use_what_was_kept(tmp_path, monkeypatch):
    keep(run(tmp_path / "first", images=1.0, run=40.0), tmp_path, "paper")
    keep(run(tmp_path / "second", images=3.0), tmp_path, "paper")
    monkeypatch.setattr(estimates, "SHIPPED", tmp_path)
    kept = {one.stage: one.seconds for one in shipped_costs("paper").values()}
    assert kept == {"source": 3.0, "train": 40.0}


def test_jobs_of_different_sizes_are_all_kept(tmp_path):
    """Studies ask different sizes of one measure, at different costs for each unit."""
    keep(run(tmp_path / "first", run=40.0), tmp_path, "paper")
    keep(run(tmp_path / "second", larger=5, run=90.0), tmp_path, "paper")
    keep(run(tmp_path / "third", run=30.0), tmp_path, "paper")
    kept = pd.read_csv(tmp_path / "paper_jobs.csv").set_index("units")["seconds"]
    assert kept.to_dict() == {50.0: 90.0, 10.0: 30.0}


@pytest.mark.parametrize(("larger", "shown"), [(1, True), (2, False)])
def test_a_time_is_shown_only_for_jobs_of_the_size_that_is_configured(
    tmp_path, monkeypatch, larger, shown
):
    """A change of realizations changes the sizes of jobs and not their number."""
    target, jobs = "duality_fig3", len(figures.needed("paper")["duality_fig3"])
    measured = {"target": target, "jobs": jobs, "made": jobs, "measured_seconds": 120.0}
    units = larger * figures.units(target, "paper")
    write_table(tmp_path / "paper.csv", pd.DataFrame([{**measured, "units": units}]))
    monkeypatch.setattr(figures, "COSTS", tmp_path)
    assert (" · 2.0 min" in figures.takes(target, ["paper"])[0]) is shown
