"""What figures cost: measured seconds add up, estimates scale with the work."""

import pytest

from flatlas.report.costs import (
    cost_of_measures,
    cost_of_stages,
    cost_of_targets,
    needed_jobs,
    readable,
    readable_measures,
)
from flatlas.report.estimates import JobCost, estimate, read_costs
from flatlas.report.readable import duration

RAN = JobCost("train", "dense30", 100.0, seconds=20.0, peak_mib=500.0)


def test_jobs_of_the_same_net_come_before_those_of_another():
    other = JobCost("train", "convolutional", 100.0, seconds=900.0)
    assert estimate(JobCost("train", "dense30", 100.0), [other, RAN]) == pytest.approx(20.0)
    assert estimate(JobCost("train", "resnet", 100.0), [other]) == pytest.approx(900.0)


def test_a_shared_job_counts_for_each_figure_and_once_in_all():
    jobs = {
        "run": RAN,
        "later": JobCost("train", "dense30", 50.0),
        "odd": JobCost("hessian", "dense30", 1.0),
        "a": JobCost("figure", "", 1.0, seconds=2.0, peak_mib=100.0),
        "b": JobCost("figure", "", 1.0, seconds=4.0, peak_mib=100.0),
    }
    needed = {"a": ["run", "a"], "b": ["run", "later", "odd", "b"]}
    table = cost_of_targets(needed_jobs(jobs, needed, [RAN]))
    rows = table.set_index("target")
    assert rows["measured_seconds"].to_dict() == {"a": 22.0, "b": 24.0, "all": 26.0}
    assert rows["estimated_seconds"].to_dict() == {"a": 0.0, "b": 10.0, "all": 10.0}
    assert rows["without_estimate"].to_dict() == {"a": 0, "b": 1, "all": 1}
    assert rows["units"].to_dict() == {"a": 101.0, "b": 152.0, "all": 153.0}
    assert rows.loc["all", ["jobs", "made"]].to_list() == [5, 3]
    assert rows.loc["b", "peak_mib"] == 500.0
    assert "10 s + 1 unknown" in readable(table)


def test_measures_are_summed_by_study_and_a_shared_job_counts_once_in_all():
    """Ordered by what they cost; sums with an estimate, and jobs without one, are marked."""
    jobs = {
        "images": JobCost("source", "", 1.0, seconds=1.0),
        "drawn": JobCost("subset", "", 1.0, seconds=2.0),
        "run": JobCost("train", "dense30", 1.0, seconds=30.0),
        "sharp": JobCost("sharpness", "dense30", 1.0, seconds=120.0),
        "sharper": JobCost("sharpness", "dense30", 2.0),
        "odd": JobCost("regret", "dense30", 1.0),
    }
    needed = {
        "one": ["images", "drawn", "run", "sharp"],
        "other": ["run", "sharp", "sharper", "odd"],
    }
    known = [one for one in jobs.values() if one.ran]
    table = cost_of_measures(needed_jobs(jobs, needed, known))
    rows = table.set_index(["measure", "study"])
    assert list(rows.index) == [
        *(("sharpness", "all"), ("sharpness", "other"), ("sharpness", "one")),
        *(("train", "all"), ("train", "one"), ("train", "other")),
        *(("data", "all"), ("data", "one")),
        *(("regret", "all"), ("regret", "other")),
    ]
    assert rows.loc[("sharpness", "all"), "measured_seconds"] == 120
    assert rows.loc[("sharpness", "all"), "estimated_seconds"] == 240
    assert rows.loc[("train", "all")].to_list() == [1, 1, 30, 0, 0]
    assert rows.loc[("data", "one")].to_list() == [2, 2, 3, 0, 0]
    assert rows.loc[("regret", "all"), "without_estimate"] == 1
    lines = [line.split() for line in readable_measures(table).splitlines()]
    assert lines[0] == ["core-minutes", "all", "other", "one"]
    assert lines[1] == ["sharpness", "~6.0", "~6.0", "2.0"]
    assert lines[2] == ["train", "0.5", "0.5", "0.5"]
    assert lines[4] == ["regret", "?", "?"]


def test_stages_are_summed_over_the_jobs_that_were_made():
    jobs = {"a": RAN, "b": JobCost("train", "x", 1.0, 40.0, 900.0), "c": JobCost("train", "x", 1.0)}
    (row,) = cost_of_stages(jobs).to_dict("records")
    assert row == {"stage": "train", "jobs": 2, "seconds": 60.0, "longest": 40.0, "peak_mib": 900.0}


def test_an_interrupted_training_counts_with_all_its_seconds(tmp_path, provenance):
    facts = {"seconds": 5.0, "training_seconds": 80.0, "peak_memory_mib": 300}
    provenance(tmp_path / "run.json", **facts)
    job = {"stage": "train", "net": "dense30", "units": 1.0}
    jobs = read_costs(
        {
            "run": job | {"provenance": str(tmp_path / "run.json")},
            "gone": job | {"provenance": str(tmp_path / "gone.json")},
        }
    )
    assert (jobs["run"].seconds, jobs["run"].peak_mib) == (80.0, 300)
    assert not jobs["gone"].ran


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "–"), (0.44, "0.4 s"), (40, "40 s"), (720, "12 min"), (6000, "1.7 h"), (90000, "25 h")],
)
def test_durations_are_readable(seconds, text):
    assert duration(seconds) == text
