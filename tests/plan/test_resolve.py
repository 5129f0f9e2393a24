"""From a configuration to a plan: the shipped presets, shared runs, and typed values."""

import json
from pathlib import Path

import pytest
import yaml
from shipped import SHIPPED, shipped
from small_configuration import CONFIG, PRESETS, STUDY, Removed

from flatlas.plan.data_specs import AttackSpec, FunctionsSpec, NoiseSpec, SubsetSpec, subset_of
from flatlas.plan.graph import picture
from flatlas.plan.jobs import jobs_of
from flatlas.plan.resolve import resolve
from flatlas.plan.trees import merged


@pytest.mark.parametrize("preset", PRESETS)
def test_every_shipped_preset_has_every_figure(preset):
    assert shipped(preset).figures.keys() == {
        f"{path.stem}_{name}"
        for path in (CONFIG / "studies").glob("*.yaml")
        for name in yaml.safe_load(path.read_text())["figures"]
    }


def test_the_smaller_study_prior_has_all_other_runs_of_the_paper():
    file = yaml.safe_load((CONFIG / "smaller" / "prior.yaml").read_text())
    paper, smaller = shipped("paper"), resolve(merged(SHIPPED | {"preset": "paper"}, file), CONFIG)
    assert paper.figures.keys() == smaller.figures.keys()
    gone = [run for name, run in paper.runs.items() if name not in smaller.runs]
    sizes = {run.samples.size for run in gone if run.net.family == "dense"}
    assert sizes == {1000, 3000, 5000, 7000, 9000}
    assert {run.net.family for run in gone} == {"dense", "resnet"}
    added = {run.net.family for name, run in smaller.runs.items() if name not in paper.runs}
    assert added == {"convolutional"}


def points_of(plan, figure="flat_fig1"):
    return [dict(entry.point) for entry in plan.figures[figure].entries]


def test_sweeps_and_figures_share_equal_runs_and_measurements(plan_of):
    """The base run is a point of both sweeps; it is trained and measured once."""
    plan = plan_of(study={"figures.fig2.measures": ["hidden"]})
    one, two = (plan.figures[f"flat_{name}"].entries for name in ("fig1", "fig2"))
    assert [entry.sweep for entry in two] == ["alpha", "alpha", "batch", "batch"]
    assert points_of(plan, "flat_fig2") == [
        *({"optimizer.lr": rate} for rate in (0.05, 0.1)),
        *({"batch": batch} for batch in (5, 10)),
    ]
    assert two[1].run == two[2].run
    assert [entry.measurements for entry in one] == [entry.measurements for entry in two[:2]]
    assert len(plan.runs) == len(plan.measurements) == 3


def test_later_files_win_and_mappings_merge(plan_of):
    plan = plan_of(
        study={"runs.base.stop": {"epochs": 7, "extra_epochs": 2}},
        preset={"studies.flat.runs.base.stop.epochs": 8, "studies.flat.realizations": 3},
        user={"studies.flat.realizations": 4},
    )
    for run in plan.runs.values():
        assert run.seeds == (0, 1, 2, 3)
        assert (run.stop.epochs, run.stop.extra_epochs) == (8, 2)


def test_a_net_of_another_family_replaces_the_whole_net(plan_of):
    resnet = {"family": "resnet", "blocks": [1, 1], "channels": 4}
    plan = plan_of(
        study={"measures.hidden.layer": "fc"},
        preset={"studies.flat.runs.base.net": resnet},
        user={"studies.flat.runs.base.net": {"family": "resnet", "channels": 2}},
    )
    nets = {(run.net.blocks, run.net.channels) for run in plan.runs.values()}
    assert nets == {((1, 1), 2)}, "within a family they merge"
    dense = {"family": "dense", "hidden": [7]}
    plan = plan_of(
        preset={"studies.flat.runs.base.net": resnet}, user={"studies.flat.runs.base.net": dense}
    )
    assert {run.net.hidden for run in plan.runs.values()} == {(7,)}


def test_another_initialization_or_optimizer_drops_the_options_of_the_first(plan_of):
    plan = plan_of(
        study={
            "runs.base.net.init": {"scheme": "xavier_uniform", "scale": 2.0},
            "runs.base.optimizer": {"name": "momentum", "lr": 0.3, "momentum": 0.5},
            "sweeps.alpha.grid": {"batch": [2]},
        },
        user={
            "studies.flat.runs.base.net.init.scheme": "he_normal",
            "studies.flat.runs.base.optimizer.name": "sgd",
        },
    )
    for run in plan.runs.values():
        assert (run.net.init.scheme, run.net.hidden) == ("he_normal", (4, 3))
        assert run.optimizer.model_dump() == {"name": "sgd", "lr": 0.3}


def test_another_schedule_drops_the_options_of_the_first(plan_of):
    plan = plan_of(
        study={"runs.base.schedule": {"kind": "linear_tail", "floor": 0.02}},
        user={"studies.flat.runs.base.schedule.kind": "constant"},
    )
    assert {(run.schedule.kind, run.schedule.floor) for run in plan.runs.values()} == {
        ("constant", 0.01)
    }


def test_null_takes_back_a_schedule_and_a_penalty(plan_of):
    changed = {"schedule": {"kind": "step", "epochs": [3]}, "penalty": {"coefficient": 0.1}}
    study = {f"runs.base.{key}": value for key, value in changed.items()}
    back = {f"studies.flat.runs.base.{key}": None for key in changed}
    assert plan_of(study=study, user=back).runs == plan_of().runs


def test_options_stay_if_the_scheme_and_the_optimizer_do(plan_of):
    plan = plan_of(
        study={
            "runs.base.net.bias": True,
            "runs.base.net.init": {"scheme": "scaled_normal", "weight_std": 2.0},
            "runs.base.optimizer": {"name": "momentum", "lr": 0.3, "momentum": 0.5},
        },
        user={
            "studies.flat.runs.base.net.init": {"scheme": "scaled_normal", "bias_std": 0.5},
            "studies.flat.runs.base.optimizer": {"name": "momentum", "nesterov": True},
        },
    )
    for run in plan.runs.values():
        assert (run.net.init.weight_std, run.net.init.bias_std) == (2.0, 0.5)
        assert (run.optimizer.momentum, run.optimizer.nesterov) == (0.5, True)


def test_an_entry_may_be_called_as_a_key_that_replaces(plan_of):
    sweep = {"run": "base", "grid": {"batch": [2, 4]}}
    names = ("family", "scheme", "name")
    plan = plan_of(user={f"studies.flat.sweeps.{name}": sweep for name in names})
    assert {"alpha", "batch", *names} == plan.studies["flat"].sweeps.keys()


ADAM = {"name": "adam", "lr": 0.001, "betas": [0.9, 0.999], "epsilon": 1e-08}
MOMENTUM = {"name": "momentum", "lr": 0.2, "momentum": 0.9, "nesterov": False}


@pytest.mark.parametrize(
    ("sweep", "points"),
    [
        (
            {"grid": {"batch": [5, 10], "optimizer.lr": [0.1, 0.2]}},
            [{"batch": size, "optimizer.lr": lr} for size in (5, 10) for lr in (0.1, 0.2)],
        ),
        # A point that does not name a key has the run's value, so no figure loses the base run.
        (
            {"points": [{}, {"batch": 3, "optimizer.lr": 0.5}]},
            [{"batch": 5, "optimizer.lr": 0.1}, {"batch": 3, "optimizer.lr": 0.5}],
        ),
        (
            {"points": [{"data.label_noise": None}, {"data.label_noise": 0.25}]},
            [{"data.label_noise": 0.0}, {"data.label_noise": 0.25}],
        ),
        # As a number of images, the whole batch has a place on an axis: ten images of each digit.
        (
            {"grid": {"batch": [5, "full"]}},
            [{"batch": 5}, {"batch": 100, "full_batch": True}],
        ),
        # The base run averages nothing, so it has no such key.
        ({"points": [{}, {"average.from_epoch": 3}]}, ...),
        ({"points": [{"stop.loss_below": None}, {"stop.loss_below": 0.5}]}, ...),
        # YAML reads 1e-3, without a dot, as text, and 1 as an integer.
        (
            {"grid": {"optimizer.lr": ["1e-3", 1]}},
            [{"optimizer.lr": 0.001}, {"optimizer.lr": 1.0}],
        ),
        # A key within a mapping counts, even if its sweep names the mapping later.
        (
            {"grid": {"optimizer.lr": [0.5], "optimizer": [{"name": "adam", "lr": 0.1}]}},
            [{f"optimizer.{key}": value for key, value in (ADAM | {"lr": 0.5}).items()}],
        ),
        # A mapping replaces the old one completely.
        (
            {
                "points": [
                    {"optimizer": {"name": "adam"}},
                    {"optimizer": {"name": "momentum", "lr": 0.2}, "net.hidden": [9, 7]},
                ]
            },
            [
                {f"optimizer.{key}": value for key, value in ADAM.items()} | {"net.hidden": [4, 3]},
                {f"optimizer.{key}": value for key, value in MOMENTUM.items()}
                | {"net.hidden": [9, 7]},
            ],
        ),
    ],
)
def test_points_of_a_figure_have_typed_values(plan_of, sweep, points):
    points = sweep["points"] if points is ... else points
    plan = plan_of(study={"sweeps.alpha": {"run": "base", **sweep}})
    assert text(points_of(plan)) == text(points)
    given = jobs_of(plan)["flat_fig1"].spec["points"]
    for point, job in zip(points, given, strict=True):
        assert text({key: job[key] for key in point}) == text(point)


def text(points):
    """As JSON, in which 1 differs from 1.0."""
    return json.dumps(points, sort_keys=True)


def test_samples_are_what_the_run_asks_for(plan_of):
    data = "runs.base.data."
    assert kinds(plan_of()) == {SubsetSpec}
    assert kinds(plan_of(study={f"{data}label_noise": 0.25})) == {SubsetSpec, NoiseSpec}
    assert kinds(plan_of(study={f"{data}attack_size": 4})) == {SubsetSpec, AttackSpec}
    assert kinds(plan_of(study={f"{data}label_noise": 0})) == {SubsetSpec}


def kinds(plan):
    """The kinds of samples, each planned with its subset, which is of the given source."""
    for samples in plan.samples.values():
        assert subset_of(samples) in plan.samples.values()
        assert subset_of(samples).source.kind == "digits"
    return {type(samples) for samples in plan.samples.values()}


def files_of(plan, identity):
    """The inputs of a job, by their names."""
    return {name: Path(file) for name, file in jobs_of(plan)[identity].inputs.items()}


def test_runs_and_measures_of_functions_share_one_table_of_them(plan_of):
    data = {"source": "boolean", "functions": {"draws": 10_000}}
    study = {"runs.base.data": data, "measures.hidden": {"measure": "boolean_prior"}}
    study["sweeps.batch.grid.batch"] = [5, 8]
    plan = plan_of(study=study)
    (samples,) = plan.samples.values()
    runs = list(plan.runs.values())
    assert [run.samples for run in runs] == [samples] * 3
    assert isinstance(samples, FunctionsSpec) and samples.net == runs[0].net
    assert (samples.draws, samples.count) == (10_000, 2)
    assert {(run.input_shape, run.outputs) for run in runs} == {((1, 1, 3), 1)}
    wide = plan_of(study=study | {"runs.base.net.hidden": [9]})
    assert wide.samples.keys().isdisjoint(plan.samples)
    for measurement in plan.measurements:
        files = files_of(plan, measurement)
        assert files.keys() == {"images", "samples", "functions", "weights", "outcomes"}
        assert files["functions"].parent == files["samples"].parent
        assert files["functions"].parent.parent.name == "functions"


def test_a_fixed_split_is_drawn_once_for_all_realizations(plan_of):
    for study, seeds in (({"runs.base.data.split": 9}, (9,)), ({}, (0, 1))):
        (samples,) = plan_of(study=study).samples.values()
        assert samples.seeds == seeds


@pytest.mark.parametrize(
    ("data", "outputs"),
    [
        ({}, 10),
        ({"classes": [3, 8, 5]}, 3),
        ({"positive": [1, 2]}, 1),
        ({"classes": [3, 8], "positive": [3]}, 1),
    ],
)
def test_a_net_has_an_output_for_each_class_of_the_task(plan_of, data, outputs):
    plan = plan_of(study={f"runs.base.data.{key}": value for key, value in data.items()})
    assert {run.outputs for run in plan.runs.values()} == {outputs}


def test_the_files_of_a_figure_are_in_the_order_of_its_points(plan_of):
    plan = plan_of(study={"figures.fig2.measures": ["hidden"]})
    job = jobs_of(plan)["flat_fig2"]
    files, points = job.inputs, job.spec["points"]
    assert files.keys() == {"history", "outcomes", "hidden_directions", "hidden_summary"}
    for number, point in enumerate(points):
        assert Path(files["history"][number]).parent.name == point["run"]
        run = plan.runs[point["run"]]
        assert point.get("optimizer.lr", run.optimizer.lr) == run.optimizer.lr
        assert point.get("batch", run.batch) == run.batch
        measured = plan.measurements[Path(files["hidden_summary"][number]).parent.name]
        assert measured.run == run


def test_the_picture_of_the_plan_has_every_job_and_its_inputs(plan_of):
    plan = plan_of(study={"runs.base.data.attack_size": 3})
    drawn = picture(plan, jobs_of(plan))
    nodes = {name for names in drawn["nodes"].values() for name in names}
    kinds = (plan.sources, plan.samples, plan.runs, plan.measurements, plan.figures)
    assert nodes == {name for kind in kinds for name in kind}
    assert drawn["studies"] == dict.fromkeys(nodes, "flat")
    fed, feeding = {edge[1] for edge in drawn["edges"]}, {edge[0] for edge in drawn["edges"]}
    assert nodes - fed == plan.sources.keys()
    assert nodes - feeding == plan.figures.keys()
    json.dumps(drawn)


@pytest.mark.parametrize(
    "changes",
    [
        {"study": {"sweeps.more": {"run": "base", "grid": {"batch": [1, 2, 3]}}}},
        {"user": {"data_root": "elsewhere"}},
        {"user": {"sources.mnist": Removed}},
    ],
    ids=["a sweep without a figure", "data elsewhere", "an unused source"],
)
def test_changes_without_effect_on_results_change_no_id(plan_of, changes):
    plan, other = plan_of(), plan_of(**changes)
    assert other.runs == plan.runs
    assert other.sources == plan.sources


FIXED = {"kind": "folder", "path": "pets", "classes": 10, "side": 8}
STEP = {"kind": "step", "epochs": [3, 5]}
START = {"runs.first": STUDY["runs"]["base"] | {"realizations": 2}}


@pytest.mark.parametrize(
    ("key", "once", "again"),
    [
        ("data.only", [1, 3], [3, 1]),
        ("data.positive", [1, 3], [3, 1]),
        ("data.at_most", None, False),
        ("checkpoints", [0, 2, 5], [5, "0..2/2"]),
        ("overtraining", [0, 1], [1, 0]),
        ("frozen", ["fc1", "fc2"], ["fc2", "fc1"]),
        ("schedule", STEP, STEP | {"epochs": [5, 3]}),
        (
            "start",
            {"run": "first", "fresh": ["fc1", "fc2"]},
            {"run": "first", "fresh": ["fc2", "fc1"]},
        ),
    ],
)
def test_a_run_has_one_id_however_its_settings_are_written(plan_of, key, once, again):
    """None of these lists has an order that a training sees."""
    study = START | {"runs.base.stop.extra_epochs": 1}
    plan, other = (plan_of(study=study | {f"runs.base.{key}": said}) for said in (once, again))
    assert plan.runs == other.runs and plan.measurements == other.measurements


def test_links_that_are_not_followed_are_those_of_a_folder_without_the_option(plan_of):
    def sources(source):
        return plan_of(user={"sources.digits": source}).sources

    assert sources(FIXED) == sources(FIXED | {"follow_links": False})
    assert sources(FIXED) != sources(FIXED | {"follow_links": True})


@pytest.mark.parametrize(
    ("at", "moments"),
    [
        (None, ("final",)),
        ([3, 0, "final"], (3, 0, "final")),
        (["all"], (0, 3, 5, 10, 15, "met+3", "met+9", "final")),
    ],
)
def test_a_measure_is_taken_at_the_moments_that_are_asked_for(plan_of, at, moments):
    study = {
        "runs.base.checkpoints": [0, 3, "5..15/5"],
        "runs.base.stop.extra_epochs": 9,
        "runs.base.overtraining": [3, 9],
    }
    plan = plan_of(study=study | ({"measures.hidden.at": at} if at else {}))
    assert {spec.options.at for spec in plan.measurements.values()} == {moments}


def test_a_measure_reads_how_its_own_run_ended(plan_of):
    plan = plan_of()
    for measurement, spec in plan.measurements.items():
        files = files_of(plan, measurement)
        assert files.keys() == {"images", "samples", "weights", "outcomes"}
        assert plan.runs[files["outcomes"].parent.name] == spec.run
        assert files["outcomes"].parent == files["weights"].parent
