"""Shipped costs are used until the machine has its own, scaled to its speed."""

import pytest

from flatlas.report import estimates
from flatlas.report.costs import middle_jobs
from flatlas.report.estimates import JobCost, estimate, known_costs, shipped_costs


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Costs of two presets, and an empty folder to work in."""
    folder = tmp_path / "costs"
    folder.mkdir()
    head = "provenance,stage,net,units,seconds\n"
    rows = "results/runs/a/provenance.json,train,dense,10,4\nh.json,hessian,dense,10,6\n"
    (folder / "demo_jobs.csv").write_text(head + rows)
    (folder / "laptop_jobs.csv").write_text(
        head + "results/runs/b/provenance.json,train,dense,1000,100\n"
    )
    monkeypatch.setattr(estimates, "SHIPPED", folder)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_preset_has_its_own_costs_or_those_of_others(shipped):
    assert [one.seconds for one in shipped_costs("laptop").values()] == [100.0, 6.0]
    assert [one.seconds for one in shipped_costs("mine").values()] == [4.0, 6.0, 100.0]


def test_shipped_costs_are_scaled_by_what_ran_here(shipped):
    hessian, more = JobCost("hessian", "dense", 20.0), JobCost("train", "dense", 20.0)
    assert estimate(hessian, known_costs([], "demo")) == pytest.approx(12.0)
    # Three times as long as the shipped costs say, in an hour; so does the job that ran itself.
    ran = JobCost("train", "dense", 3000.0, seconds=3600.0)
    assert estimate(hessian, known_costs([ran], "demo")) == pytest.approx(36.0, rel=0.05)
    assert estimate(more, known_costs([ran], "demo")) == 24.0


def test_a_short_job_says_little_about_the_machine(shipped):
    """It waited for a disk, for instance: thirty times as long as the shipped cost says."""
    hessian = JobCost("hessian", "dense", 20.0)
    ran = JobCost("train", "dense", 1.0, seconds=12.0)
    assert 12.0 < estimate(hessian, known_costs([ran], "demo")) < 15.0


def test_a_result_of_another_preset_shows_the_speed_of_the_machine(shipped, provenance):
    folder = shipped / "results" / "runs" / "a"
    folder.mkdir(parents=True)
    provenance(folder / "provenance.json", seconds=1e6)
    hessian = JobCost("hessian", "dense", 10.0)
    assert estimate(hessian, known_costs([], "demo")) > 1e4
    (folder / "provenance.json").write_text("{")
    assert estimate(hessian, known_costs([], "demo")) == pytest.approx(6.0)


def test_an_estimate_uses_the_jobs_of_the_nearest_size():
    """Small jobs have overheads that large ones lack."""
    near, far = JobCost("t", "d", 90.0, seconds=90.0), JobCost("t", "d", 1.0, seconds=50.0)
    assert estimate(JobCost("t", "d", 100.0), [far, near]) == pytest.approx(100.0)


def test_shipped_costs_are_readable_and_keep_the_middle_job_of_each_kind():
    assert {one.ran for preset in ("demo", "laptop") for one in shipped_costs(preset).values()} == {
        True
    }
    jobs = {str(size): JobCost("train", "dense", float(size), seconds=1.0) for size in (9, 1, 5)}
    table = middle_jobs({**jobs, "other": JobCost("train", "dense", 100.0)})
    assert table["provenance"].to_list() == ["5"]
