"""Runs that start from another run, and a second task: what is read, what is refused."""

import copy

import pytest
from small_configuration import Removed

from flatlas.errors import FlatlasError
from flatlas.plan.graph import picture
from flatlas.plan.ids import run_id, samples_id
from flatlas.plan.jobs import jobs_of
from flatlas.plan.measure_specs import second_task
from flatlas.plan.training_specs import RunSpec

LATER = {
    "data": {"source": "digits", "only": [0, 1], "per_class": 10, "test_size": 20},
    "net": {"family": "dense", "hidden": [4, 3]},
    "optimizer": {"name": "sgd", "lr": 0.1},
    "batch": 5,
    "stop": {"epochs": 7, "extra_epochs": 2},
    "start": {"run": "base", "fresh": ["fc2"]},
    "frozen": ["fc1", "fc3"],
    "snapshots": "fc2",
}
FORGETTING = {
    "measure": "forgetting", "layer": "fc2", "task": [2, 3], "strengths": [1], "directions": [3],
}  # fmt: skip
TASKS = {
    "runs.later": LATER,
    "sweeps": {"later": {"run": "later", "points": [{}]}},
    "measures": {"hidden": FORGETTING},
    "figures": {"fig1": {"title": "One", "sweeps": ["later"], "measures": ["hidden"]}},
}
PLACE = "config/studies/flat.yaml: "


def tasks(changes=None):
    """The two tasks, copied: a dotted key writes into them."""
    return copy.deepcopy(TASKS) | (changes or {})


@pytest.fixture
def plan(plan_of):
    return plan_of(study=tasks())


def later_of(plan):
    (entry,) = plan.figures["flat_fig1"].entries
    return plan.runs[entry.run]


def test_the_other_run_is_planned_and_read(plan):
    later = later_of(plan)
    first = later.start.run
    assert plan.runs == {run_id(first): first, run_id(later): later}
    files = jobs_of(plan)[run_id(later)].inputs
    assert files["start"] == f"results/runs/{run_id(first)}/weights.safetensors"
    assert "start" not in jobs_of(plan)[run_id(first)].inputs
    assert (run_id(first), run_id(later)) in picture(plan, jobs_of(plan))["edges"]
    assert later.start.fresh == ("fc2",) and later.frozen == ("fc1", "fc3")


def test_it_is_the_same_run_as_where_it_is_drawn_itself(plan_of, plan):
    alone = plan_of(study={"sweeps.plain": {"run": "base", "points": [{}]}})
    assert run_id(later_of(plan).start.run) in alone.runs


def test_what_changes_the_other_run_changes_this_one(plan_of, plan):
    changed = plan_of(study=tasks({"runs.base.optimizer.lr": 0.2}))
    assert run_id(later_of(changed)) != run_id(later_of(plan))
    assert run_id(later_of(changed).start.run) != run_id(later_of(plan).start.run)


def test_a_job_is_given_the_other_run_whole(plan):
    later = later_of(plan)
    given = later.resolved()
    assert given["start"] == {"run": later.start.run.resolved(), "fresh": ["fc2"]}
    assert RunSpec.model_validate(given) == later


def test_a_task_keeps_the_outputs_and_its_own_labels(plan):
    later = later_of(plan)
    assert later.outputs == later.start.run.outputs == 10
    assert later.samples.only == (0, 1) and later.samples.classes is None


def test_a_row_of_runs_each_from_the_last(plan_of):
    third = LATER | {"start": {"run": "later"}, "frozen": ["fc2"]}
    plan = plan_of(study=tasks({"runs.third": third, "sweeps.later.run": "third"}))
    last = later_of(plan)
    assert last.start.run.start.run.start is None
    assert len(plan.runs) == 3


def test_the_images_of_the_second_task(plan):
    ((identity, measured),) = plan.measurements.items()
    second = second_task(measured)
    assert second == measured.run.samples.model_copy(update={"only": (2, 3)})
    files = jobs_of(plan)[identity].inputs
    assert files["second_task"] == f"results/data/subsets/{samples_id(second)}/samples.parquet"
    assert files["samples"] != files["second_task"]
    assert files["trajectory"].startswith("results/recordings/")
    assert plan.samples[samples_id(second)] == second
    edges = picture(plan, jobs_of(plan))["edges"]
    assert {(samples_id(second), identity), (run_id(measured.run), identity)} <= set(edges)
    nodes = {name for names in picture(plan, jobs_of(plan))["nodes"].values() for name in names}
    assert {name for edge in edges for name in edge} <= nodes


def test_what_is_unsaid_of_the_second_training_is_the_runs_own(plan):
    (measured,) = plan.measurements.values()
    assert (measured.options.batch, measured.options.lr) == (5, 0.1)


WRONG = {
    "no such run": (
        {"runs.later.start.run": "bas"},
        "runs.later.start.run names 'bas'. Allowed: base, later. Did you mean 'base'?",
    ),
    "itself": (
        {"runs.later.start.run": "later"},
        "runs.later.start.run goes in a circle: later from later. Some run has to be the first.",
    ),
    "a circle": (
        {"runs.base.start": {"run": "later"}},
        "runs.base.start.run goes in a circle: later from base from later. Some run",
    ),
    "another net": (
        {"runs.base.net.hidden": [5, 3]}, "runs.later.start.run is 'base', which has another net",
    ),
    "other images": (
        {"runs.base.data.source": "mnist"}, "runs.later.start.run is 'base', which has another net",
    ),
    "other outputs": (
        {"runs.later.data.only": Removed, "runs.later.data.classes": [0, 1]},
        "runs.later.start.run is 'base', whose net has 10 outputs, not 2: to train on some",
    ),
    "fewer realizations": (
        {"runs.base.realizations": 1},
        "runs.later.start.run is 'base', which has only 1 realizations for 2: give it as many",
    ),
    "no such fresh layer": (
        {"runs.later.start.fresh": ["fc4"]},
        "runs.later.start.fresh names 'fc4'. Allowed: fc1, fc2, fc3.",
    ),
    "no such frozen layer": (
        {"runs.later.frozen": ["fc1", "f3"]},
        "runs.later.frozen names 'f3'. Allowed: fc1, fc2, fc3. Did you mean 'fc3'?",
    ),
    "all frozen": (
        {"runs.later.frozen": ["fc3", "fc1", "fc2"]},
        "runs.later.frozen names every layer, which leaves none to train: leave one out.",
    ),
    "rescaled and frozen": (
        {"runs.later.rescaling": {"layer": "fc1", "factor": 2, "after": 1}},
        "runs.later: rescaling changes two layers: leave it out, or frozen",
    ),
    "a class that is not there": (
        {"runs.later.data.only": [0, 10]}, "runs.later.data.only names '10'. Allowed: 0, 1, 2",
    ),
    "a task of no several": (
        {"runs.later.data.only": Removed},
        "measures.hidden.measure is of a net that knows more classes than its run: say data.only.",
    ),
    "the first task again": (
        {"measures.hidden.task": [1, 2]},
        "measures.hidden.task is [1, 2]. Allowed, beside data.only: 2, 3, 4, 5, 6, 7, 8, 9.",
    ),
    "a task that the net does not know": (
        {
            "runs.base.data.classes": [0, 1, 2, 5], "runs.later.data.classes": [0, 1, 2, 5],
        },
        "measures.hidden.task is [2, 3]. Allowed, beside data.only: 2, 5.",
    ),
    "no minibatches": (
        {"runs.later.batch": "full"},
        "measures.hidden.batch is missing, and the run itself takes all images at once.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_is_told_before_anything_is_trained(plan_of, wrong):
    changes, said = WRONG[wrong]
    with pytest.raises(FlatlasError) as raised:
        plan_of(study=tasks(changes))
    assert str(raised.value).startswith(PLACE + said)


def test_a_swept_start_is_told_where_it_stands(plan_of):
    changes = {"sweeps.later.points": [{"start.run": "bse"}]}
    with pytest.raises(FlatlasError) as raised:
        plan_of(study=tasks(changes))
    assert str(raised.value).startswith(
        f"{PLACE}sweeps.later.points.0.start.run names 'bse'. Allowed: base, later."
    )
