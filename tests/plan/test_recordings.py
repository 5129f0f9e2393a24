"""Measures along a recording: what they read, what they take from the run, what they refuse."""

import pytest

from flatlas.errors import FlatlasError
from flatlas.plan.jobs import jobs_of

RECORDED = {"runs.base.snapshots": "fc2", "runs.base.stop.extra_epochs": 3}
MEASURES = {
    "trajectory_pca": {"components": [1, 2]},
    "valley": {"profiles": [10]},
    "minibatch_losses": {},
    "active_temperature": {},
    "first_mode": {},
}


def of(name, **options):
    return {"measures.hidden": {"measure": name, "layer": "fc2", **options}}


@pytest.mark.parametrize("name", MEASURES)
def test_it_reads_the_recording_of_its_run(plan_of, name):
    plan = plan_of(study=RECORDED | of(name, **MEASURES[name]))
    jobs = jobs_of(plan)
    for measurement in plan.measurements:
        files = jobs[measurement].inputs
        assert files["trajectory"] == files["weights"].replace(
            "weights.safetensors", "trajectory.npy"
        )
        assert files["trajectory"].startswith("results/recordings/")


def test_other_measures_of_such_a_run_do_not(plan_of):
    plan = plan_of(study=RECORDED)
    assert not any("trajectory" in job.inputs for job in jobs_of(plan).values())


def test_what_is_unsaid_is_the_runs_own(plan_of):
    """Each point of the sweep over α has its own."""
    plan = plan_of(study=RECORDED | of("active_temperature"))
    told = [one.resolved()["options"] for one in plan.measurements.values()]
    assert sorted((one["lr"], one["batch"]) for one in told) == [(0.05, 5), (0.1, 5)]
    said = plan_of(study=RECORDED | of("active_temperature", lr=0.3, batch=2))
    told = [one.resolved()["options"] for one in said.measurements.values()]
    assert {(one["lr"], one["batch"]) for one in told} == {(0.3, 2)}
    pca = plan_of(study=RECORDED | of("trajectory_pca"))
    assert {one.options.epochs for one in pca.measurements.values()} == {3}


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(
    ("run", "said"),
    [
        (
            {"runs.base.snapshots": None},
            "layer needs a recording: say which layer are the run's snapshots.",
        ),
        ({"runs.base.snapshots": "fc1"}, "layer is 'fc2', but the snapshots are of 'fc1'."),
    ],
)
def test_a_run_without_this_recording_is_refused(plan_of, name, run, said):
    with pytest.raises(FlatlasError) as raised:
        plan_of(study=RECORDED | of(name) | run)
    (first, _) = str(raised.value).splitlines()
    assert first == f"config/studies/flat.yaml: measures.hidden.{said}"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            of("minibatch_losses") | {"runs.base.batch": "full"},
            "batch is missing, and the run itself takes all images at once.",
        ),
        (
            of("first_mode") | {"runs.base.data.positive": [1]},
            "measure is of nets with an output a class: leave out data.positive.",
        ),
        (of("trajectory_pca", epochs=2), "epochs is 2, but the run records 3."),
        (
            of("trajectory_pca") | {"runs.base.stop.extra_epochs": 1},
            "measure needs a recording of two epochs: say stop.extra_epochs.",
        ),
    ],
)
def test_what_else_a_run_can_not_give(plan_of, changes, said):
    with pytest.raises(FlatlasError) as raised:
        plan_of(study=RECORDED | {"figures.fig1.sweeps": ["alpha"]} | changes)
    (first, _) = str(raised.value).splitlines()
    assert first == f"config/studies/flat.yaml: measures.hidden.{said}"


def test_a_profile_of_a_direction_that_is_not_measured(plan_of):
    with pytest.raises(FlatlasError, match="profiles names rank 30, but directions is 20"):
        plan_of(study=RECORDED | of("valley", directions=20, profiles=[3, 30]))


def test_a_valley_past_which_the_images_skip_is_refused(plan_of):
    stages = [
        {"channels": 2, "kernel": 3},
        {"channels": 2, "kernel": 3, "padding": 1, "skip": True},
    ]
    net = {"family": "convolutional", "stages": stages, "hidden": [4]}

    def planned(layer):
        run = {"runs.base.net": net, "runs.base.snapshots": layer, "measures.hidden.layer": layer}
        return plan_of(study=RECORDED | of("valley") | run)

    assert len(planned("conv1").measurements) > 0
    with pytest.raises(FlatlasError, match=r"hidden.layer is 'conv2', past which the images skip"):
        planned("conv2")
