"""Measures along a recording: what they read, what they take from the run, what they refuse."""

import pytest

from flatlas.plan.jobs import jobs_of

RECORDED = {"runs.base.snapshots": "fc2", "runs.base.stop.extra_epochs": 3}
MEASURES = {
    "trajectory_pca": {"components": [1, 2]},
    "valley": {"profiles": [10]},
    "minibatch_losses": {},
    "active_temperature": {},
    "first_mode": {},
}


ALONG_DIRECTIONS = ("valley", "minibatch_losses", "active_temperature")


def of(name, **options):
    # Of `fc2`, with 12 weights, there are not 200, the default.
    few = {"directions": 12} if name in ALONG_DIRECTIONS else {}
    return {"measures.hidden": {"measure": name, "layer": "fc2"} | few | options}


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_along_a_recording_reads_that_of_its_run(plan_of, refusal, name):
    study = RECORDED | of(name, **MEASURES[name])
    plan = plan_of(study=study)
    jobs = jobs_of(plan)
    for measurement in plan.measurements:
        files = jobs[measurement].inputs
        folder = files["weights"].removesuffix("weights.safetensors")
        assert files["trajectory"] == f"{folder}trajectory.npy"
        assert folder.startswith("results/recordings/")
    for snapshots, said in ((None, "needs a recording"), ("fc1", "is 'fc2', but")):
        message = refusal(study | {"runs.base.snapshots": snapshots})
        assert message.startswith(f"measures.hidden.layer {said}")


def test_other_measures_of_a_recorded_run_do_not_read_the_recording(plan_of):
    plan = plan_of(study=RECORDED)
    assert not any("trajectory" in job.inputs for job in jobs_of(plan).values())


def test_an_option_that_is_left_out_is_the_runs_own(plan_of):
    """Each point of the sweep over α has its own."""

    def options_of(measure):
        plan = plan_of(study=RECORDED | measure)
        return [one.options for one in plan.measurements.values()]

    found = options_of(of("active_temperature"))
    assert sorted((one.lr, one.batch) for one in found) == [(0.05, 5), (0.1, 5)]
    found = options_of(of("active_temperature", lr=0.3, batch=2))
    assert {(one.lr, one.batch) for one in found} == {(0.3, 2)}
    assert {one.epochs for one in options_of(of("trajectory_pca"))} == {3}


@pytest.mark.parametrize(
    "optimizer", [{"name": "adam"}, {"name": "momentum", "lr": 0.01}, {"name": "sam", "lr": 0.1}]
)
def test_the_rate_of_another_optimizer_is_not_taken_for_sgds(refusal, plan_of, optimizer):
    """T_i is α/2 times the variance of SGD's slopes, which says nothing with the α of Adam."""
    sweep = {"figures.fig1.sweeps": ["batch"], "figures.fig2.sweeps": ["batch"]}
    study = RECORDED | sweep | {"runs.base.optimizer": optimizer}
    message = refusal(study | of("active_temperature"))
    assert message.startswith("measures.hidden.lr is missing")
    assert optimizer["name"] in message
    assert plan_of(study=study | of("active_temperature", lr=0.1)).measurements
    assert plan_of(study=study | of("minibatch_losses")).measurements


STEPS = {"runs.base.schedule": {"kind": "step", "epochs": [2]}}
LEARNERS = {"runs.base.learners": {"kind": "ssgd", "count": 2}}


@pytest.mark.parametrize(
    ("changes", "option"), [(STEPS, "lr"), (LEARNERS, "batch"), (STEPS | LEARNERS, "batch")]
)
@pytest.mark.parametrize("measure", ["active_temperature", "forgetting"])
def test_an_option_that_the_run_changes_or_splits_must_be_given(refusal, changes, option, measure):
    more = {}
    if measure == "forgetting":
        more = {"task": [2, 3], "strengths": [1], "directions": [3]}
        changes = changes | {"runs.base.data.only": [0, 1, 4, 5]}
    message = refusal(RECORDED | of(measure, **more) | changes)
    assert message.startswith(f"measures.hidden.{option} is missing")


def test_given_options_are_measured_with_a_schedule_and_learners(plan_of):
    given = of("active_temperature", lr=0.01, batch=10)
    plan = plan_of(study=RECORDED | STEPS | LEARNERS | given)
    found = {(one.options.lr, one.options.batch) for one in plan.measurements.values()}
    assert found == {(0.01, 10)}
    # A valley needs neither a batch nor a rate.
    assert plan_of(study=RECORDED | STEPS | LEARNERS | of("valley")).measurements


@pytest.mark.parametrize(("snapshots", "ranks"), [({}, 2), (RECORDED, 1)])
def test_learners_are_recorded_in_one_process(plan_of, snapshots, ranks):
    jobs = jobs_of(plan_of(study=LEARNERS | snapshots, user={"distributed": True}))
    trainings = {job.ranks for job in jobs.values() if job.rule in ("train", "record")}
    assert trainings == {ranks}


STAGES = [
    {"channels": 2, "kernel": 3},
    {"channels": 2, "kernel": 3, "padding": 1, "skip": True},
]


def valley_in(layer):
    """A valley of a net whose second convolution is skipped."""
    return of("valley", layer=layer) | {
        "runs.base.net": {"family": "convolutional", "stages": STAGES, "hidden": [4]},
        "runs.base.snapshots": layer,
    }


def test_a_valley_in_a_convolution_that_images_do_not_skip_is_measured(plan_of):
    assert len(plan_of(study=RECORDED | valley_in("conv1")).measurements) > 0


ONE_STEP = {"runs.base.batch": "full", "runs.base.stop.extra_epochs": 1}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (of("minibatch_losses") | {"runs.base.batch": "full"}, ".batch is missing"),
        (of("minibatch_losses", batch=101), ".batch is 101, but a realization has 100 images"),
        (
            of("first_mode") | {"runs.base.data.positive": [1]},
            ".measure is only for nets with",
        ),
        (of("trajectory_pca", epochs=2), ".epochs is 2, but the run records 3."),
        (
            of("trajectory_pca") | {"runs.base.stop.extra_epochs": 1},
            ".measure needs a recording of two epochs: set stop.extra_epochs.",
        ),
        (
            of("valley", directions=20, profiles=[3, 30]),
            ": profiles names rank 30, but directions is 20",
        ),
        (valley_in("conv2"), ".layer is 'conv2'"),
        (of("first_mode") | ONE_STEP, ".measure needs a recording of two steps"),
        (of("valley") | ONE_STEP, ".directions needs a recording of two steps"),
    ],
)
def test_a_measure_that_the_recording_cannot_give_is_refused(refusal, changes, said):
    message = refusal(RECORDED | {"figures.fig1.sweeps": ["alpha"]} | changes)
    assert message.startswith(f"measures.hidden{said}")


TASKS = [[2, 3], [3, 2]]
TASK = {"task": [2, 3], "strengths": [1]}
# Measures of `fc2` with 12 weights, and the option that names its directions.
NAMED = [
    *((name, {}, "directions", lambda count: count) for name in ALONG_DIRECTIONS),
    ("trajectory_pca", {}, "components", lambda count: [1, count]),
    ("forgetting", TASK, "directions", lambda count: [1, count]),
    ("forgetting", TASK | {"method": "ewc"}, "directions", lambda count: [1, count]),
]


def test_a_second_task_has_one_id_in_any_order_of_its_classes(plan_of):
    """Its images are drawn at random, and labels are those of all classes."""
    run = RECORDED | {"runs.base.data.only": [0, 1]}
    options = {"strengths": [1], "directions": [1]}
    once, again = (plan_of(study=run | of("forgetting", task=task, **options)) for task in TASKS)
    assert once.measurements and once.measurements == again.measurements


@pytest.mark.parametrize(
    ("run", "steps"),
    [
        ({"batch": 5}, 3 * 12),
        ({"batch": 30}, 3 * 2),
        ({"batch": 15, "learners": {"kind": "ssgd", "count": 2}}, 3 * 2),
        # The last minibatch would have an image for one of 7 learners.
        ({"batch": 1, "learners": {"kind": "ssgd", "count": 7}}, 3 * 8),
        ({"batch": "full"}, 3),
    ],
)
@pytest.mark.parametrize(("name", "more", "option", "value"), NAMED)
def test_more_directions_than_steps_or_weights_give_are_refused(
    plan_of, refusal, run, steps, name, more, option, value
):
    """The mean of the steps takes one direction. EWC holds single weights."""
    only = {"runs.base.data.only": [0, 1, 4, 5, 6, 7], "runs.base.data.per_class": 10}
    figures = {"figures.fig1.sweeps": ["alpha"], "figures.fig2.sweeps": ["alpha"]}
    study = RECORDED | only | figures | {f"runs.base.{key}": said for key, said in run.items()}
    study |= {"sweeps.batch": {"run": "base", "points": [{}]}}
    most = 12 if more.get("method") == "ewc" else min(12, steps - 1)
    given = {"batch": 5, "lr": 0.1} if name in ("active_temperature", "forgetting") else {}
    given |= {"batch": 5} if name == "minibatch_losses" else {}

    def measured(count):
        return study | of(name, **more, **given, **{option: value(count)})

    assert plan_of(study=measured(most)).measurements
    said = refusal(measured(most + 1))
    assert said.startswith(f"measures.hidden.{option} asks for {most + 1} directions")
