"""Runs that start from another run, and a second task: what is read, what is refused."""

import pytest
from small_configuration import Removed

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


@pytest.fixture
def plan(plan_of):
    return plan_of(study=TASKS)


def later_of(plan):
    (entry,) = plan.figures["flat_fig1"].entries
    return plan.runs[entry.run]


def test_the_first_run_is_planned_and_is_an_input_and_part_of_the_spec_of_the_second(plan):
    later = later_of(plan)
    first = later.start.run
    assert plan.runs == {run_id(first): first, run_id(later): later}
    files = jobs_of(plan)[run_id(later)].inputs
    assert files["start"] == f"results/runs/{run_id(first)}/weights.safetensors"
    assert "start" not in jobs_of(plan)[run_id(first)].inputs
    assert (run_id(first), run_id(later)) in picture(plan, jobs_of(plan))["edges"]
    assert later.start.fresh == ("fc2",) and later.frozen == ("fc1", "fc3")
    given = later.resolved()
    assert given["start"] == {"run": first.resolved(), "fresh": ["fc2"]}
    assert RunSpec.model_validate(given) == later
    # A task has the outputs of the first run, and its own labels.
    assert later.outputs == first.outputs == 10
    assert later.samples.only == (0, 1) and later.samples.classes is None


def test_the_first_run_is_shared_with_sweeps_and_its_changes_change_both_ids(plan_of, plan):
    first = later_of(plan).start.run
    alone = plan_of(study={"sweeps.plain": {"run": "base", "points": [{}]}})
    assert run_id(first) in alone.runs
    changed = later_of(plan_of(study=TASKS | {"runs.base.optimizer.lr": 0.2}))
    assert run_id(changed) != run_id(later_of(plan))
    assert run_id(changed.start.run) != run_id(first)


def test_a_run_may_start_from_one_that_starts_from_another(plan_of):
    third = LATER | {"start": {"run": "later"}, "frozen": ["fc2"]}
    plan = plan_of(study=TASKS | {"runs.third": third, "sweeps.later.run": "third"})
    last = later_of(plan)
    assert last.start.run.start.run.start is None
    assert len(plan.runs) == 3


def test_the_images_of_the_second_task_are_planned_and_read(plan):
    ((identity, measured),) = plan.measurements.items()
    # The second training takes these from the run.
    assert (measured.options.batch, measured.options.lr) == (5, 0.1)
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


RESCALED = {"layer": "fc1", "factor": 2, "after": 1}
# A key of a run and its value, and how the message goes on after `runs.`.
WRONG_RUNS = [
    ("later.start.run", "bas", "later.start.run names 'bas'. Allowed: base, later. Did you mean"),
    ("later.start.run", "later", "later.start.run goes in a circle: later from later."),
    (
        "base.start",
        {"run": "later"},
        "base.start.run goes in a circle: later from base from later.",
    ),
    ("base.net.hidden", [5, 3], "later.start.run is 'base', which has another net"),
    ("base.data.source", "mnist", "later.start.run is 'base', which has another net"),
    ("base.realizations", 1, "later.start.run is 'base', which has only 1 realizations for 2"),
    ("base.realizations", [1, 1], "later.start.run is 'base', whose groups have 1, 1 realizations"),
    ("later.start.fresh", ["fc4"], "later.start.fresh names 'fc4'. Allowed: fc1, fc2, fc3."),
    ("later.frozen", ["fc1", "f3"], "later.frozen names 'f3'. Allowed: fc1, fc2, fc3. Did you"),
    ("later.frozen", ["fc3", "fc1", "fc2"], "later.frozen names every layer"),
    ("later.rescaling", RESCALED, "later: rescaling changes two layers: leave it out, or frozen"),
    ("later.data.only", [0, 10], "later.data.only names '10'. Allowed: 0, 1, 2"),
]
ONLY = "runs.later.data.only"
CLASSES = [0, 1, 2, 5]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        *(({f"runs.{key}": value}, f"runs.{said}") for key, value, said in WRONG_RUNS),
        (
            {ONLY: Removed, "runs.later.data.classes": [0, 1]},
            "runs.later.start.run is 'base', whose net has 10 outputs, not 2",
        ),
        ({ONLY: Removed}, "measures.hidden.measure is only for nets with further"),
        (
            {"runs.later.data.per_class": 119},
            "measures.hidden.task has another task, whose per_class is 119, but digits has only",
        ),
        (
            {"measures.hidden.task": [1, 2]},
            "measures.hidden.task is [1, 2]. Allowed, of the run's 10 classes of digits outside "
            "data.only: 2, 3, 4, 5, 6, 7, 8, 9.",
        ),
        (
            {"runs.base.data.classes": CLASSES, "runs.later.data.classes": CLASSES},
            "measures.hidden.task is [2, 3]. Allowed, of the run's 4 classes of digits outside "
            "data.only: 2, 5.",
        ),
        ({"runs.later.batch": "full"}, "measures.hidden.batch is missing"),
        (
            {"sweeps.later.points": [{"start.run": "bse"}]},
            "sweeps.later.points.0.start.run names 'bse'. Allowed: base, later.",
        ),
    ],
)
def test_a_start_or_task_that_does_not_fit_is_refused(refusal, changes, said):
    assert refusal(TASKS | changes).startswith(said)


@pytest.mark.parametrize("measure", ["norms", "survival"])
def test_the_distance_from_initial_weights_needs_a_run_that_begins_with_them(
    plan_of, refusal, measure
):
    binary = {"net.init": {"scheme": "he_normal"}, "data.positive": [1], "data.per_class": 20}
    both = {
        f"runs.{run}.{key}": value for run in ("base", "later") for key, value in binary.items()
    }
    study = TASKS | both | {"measures.hidden": {"measure": measure}}
    assert plan_of(study=study | {"sweeps.later.run": "base"}).measurements
    assert refusal(study).startswith("measures.hidden.measure draws the initial weights again")
