"""Configuration into a plan: the shipped one, runs that are shared, values that are typed."""

import json
from pathlib import Path

import pytest
import yaml
from small_configuration import Removed

from flatlas.plan.data_specs import AttackSpec, FunctionsSpec, NoiseSpec, SubsetSpec, subset_of
from flatlas.plan.graph import picture
from flatlas.plan.jobs import jobs_of
from flatlas.plan.resolve import resolve

CONFIG = Path(__file__).resolve().parents[2] / "config"


@pytest.mark.parametrize("preset", [path.stem for path in (CONFIG / "presets").glob("*.yaml")])
def test_every_shipped_preset_resolves(preset):
    user = yaml.safe_load((CONFIG / "config.yaml").read_text())
    plan = resolve(user | {"preset": preset}, CONFIG)
    written = {
        f"{path.stem}_{name}"
        for path in (CONFIG / "studies").glob("*.yaml")
        for name in yaml.safe_load(path.read_text())["figures"]
    }
    assert plan.figures.keys() == written
    assert written


def test_the_presets_share_no_run_but_the_same_one():
    """Different scales of one study are different runs, under different ids."""
    user = yaml.safe_load((CONFIG / "config.yaml").read_text())
    runs = {}
    for preset in ("demo", "laptop", "paper"):
        for identity, run in resolve(user | {"preset": preset}, CONFIG).runs.items():
            assert runs.setdefault(identity, run) == run


def test_sweeps_share_the_runs_that_are_the_same(plan_of):
    """The base run stands in both sweeps; it is trained and measured once."""
    plan = plan_of()
    alpha, batch = (
        [entry for entry in plan.figures["flat_fig2"].entries if entry.sweep == sweep]
        for sweep in ("alpha", "batch")
    )
    assert [dict(entry.point) for entry in alpha] == [{"optimizer.lr": 0.05}, {"optimizer.lr": 0.1}]
    assert [dict(entry.point) for entry in batch] == [{"batch": 5}, {"batch": 10}]
    assert alpha[1].run == batch[0].run
    assert len(plan.runs) == 3


def test_figures_share_runs_and_measurements(plan_of):
    measured = {"figures.fig2.measures": ["hidden"]}
    plan = plan_of(study=measured)
    one, two = (plan.figures[f"flat_{name}"].entries for name in ("fig1", "fig2"))
    assert [entry.measurements for entry in one] == [entry.measurements for entry in two[:2]]
    assert len(plan.measurements) == 3


def test_two_measures_that_say_the_same_are_taken_once(plan_of):
    again = {"measure": "duality", "layer": "fc2", "directions": "hessian"}
    plan = plan_of(study={"measures.again": again, "figures.fig1.measures": ["hidden", "again"]})
    entry = plan.figures["flat_fig1"].entries[0]
    assert entry.measurements["hidden"] == entry.measurements["again"]


def test_only_what_a_figure_needs_is_planned(plan_of):
    plan = plan_of(study={"sweeps.more": {"run": "base", "grid": {"batch": [1, 2, 3]}}})
    assert plan.runs.keys() == plan_of().runs.keys()


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
    """Of the one below it would keep keys that its own family does not know."""
    resnet = {"family": "resnet", "blocks": [1, 1], "channels": 4}
    plan = plan_of(
        study={"measures.hidden.layer": "fc"},
        preset={"studies.flat.runs.base.net": resnet},
        user={"studies.flat.runs.base.net": {"family": "resnet", "channels": 2}},
    )
    nets = {(run.net.blocks, run.net.channels) for run in plan.runs.values()}
    assert nets == {((1, 1), 2)}, "of the same family it merges"
    dense = {"family": "dense", "hidden": [7]}
    plan = plan_of(
        preset={"studies.flat.runs.base.net": resnet}, user={"studies.flat.runs.base.net": dense}
    )
    assert {run.net.hidden for run in plan.runs.values()} == {(7,)}


def test_a_grid_has_every_combination_and_points_are_taken_as_listed(plan_of):
    grid = {"batch": [5, 10], "optimizer.lr": [0.1, 0.2, 0.3]}
    points = [{"batch": 2}, {"batch": 3, "optimizer.lr": 0.5}]
    sweeps = {
        "sweeps.alpha": {"run": "base", "grid": grid},
        "sweeps.batch": {"run": "base", "points": points},
    }
    entries = plan_of(study=sweeps).figures["flat_fig2"].entries
    assert [dict(entry.point) for entry in entries[:6]] == [
        {"batch": batch, "optimizer.lr": lr} for batch in (5, 10) for lr in (0.1, 0.2, 0.3)
    ]
    assert [dict(entry.point) for entry in entries[6:]] == points


def test_a_figure_is_told_numbers_where_yaml_reads_text(plan_of):
    """YAML reads 1e-3, without a dot, as text; the run has it as a number, so the figure too."""
    assert yaml.safe_load("1e-3") == "1e-3"
    plan = plan_of(study={("sweeps", "alpha", "grid"): {"optimizer.lr": ["1e-3", 1]}})
    told = jobs_of(plan)["flat_fig1"].spec["points"]
    assert [point["optimizer.lr"] for point in told] == [0.001, 1.0]
    assert {type(point["optimizer.lr"]) for point in told} == {float}


def test_a_point_that_replaces_a_mapping_keeps_nothing_of_the_old_one(plan_of):
    points = [{"optimizer": {"name": "adam"}}, {"optimizer": {"name": "momentum", "lr": 0.2}}]
    plan = plan_of(study={"sweeps.alpha": {"run": "base", "points": points}})
    entries = plan.figures["flat_fig1"].entries
    names = [plan.runs[entry.run].optimizer.name for entry in entries]
    assert names == ["adam", "momentum"]


def test_a_figure_is_told_of_a_mapping_value_by_value(plan_of):
    points = [{"optimizer": {"name": "momentum", "lr": 0.2}, "net.hidden": [9, 7]}]
    plan = plan_of(study={"sweeps.alpha": {"run": "base", "points": points}})
    assert dict(plan.figures["flat_fig1"].entries[0].point) == {
        "optimizer.name": "momentum",
        "optimizer.lr": 0.2,
        "optimizer.momentum": 0.9,
        "optimizer.nesterov": False,
        "net.hidden": [9, 7],
    }


def test_a_swept_value_may_be_none(plan_of):
    points = [{"stop.loss_below": None}, {"stop.loss_below": 0.5}]
    plan = plan_of(study={"sweeps.alpha": {"run": "base", "points": points}})
    assert [dict(entry.point) for entry in plan.figures["flat_fig1"].entries] == points


def test_samples_are_what_the_run_asks_for(plan_of):
    data = "runs.base.data."
    assert kinds(plan_of()) == {SubsetSpec}
    assert kinds(plan_of(study={f"{data}label_noise": 0.25})) == {SubsetSpec, NoiseSpec}
    assert kinds(plan_of(study={f"{data}attack_size": 4})) == {SubsetSpec, AttackSpec}
    assert kinds(plan_of(study={f"{data}label_noise": 0})) == {SubsetSpec}


FUNCTIONS = {
    "runs.base.data": {"source": "boolean", "functions": {"draws": 10_000}},
    "measures.hidden": {"measure": "boolean_prior"},
}


def test_functions_are_those_of_the_run_and_one_for_each_realization(plan_of):
    plan = plan_of(study=FUNCTIONS)
    (samples,) = plan.samples.values()
    runs = list(plan.runs.values())
    assert [run.samples for run in runs] == [samples] * 3
    assert isinstance(samples, FunctionsSpec) and samples.net == runs[0].net
    assert (samples.draws, samples.count) == (10_000, 2)
    assert {(run.input_shape, run.outputs) for run in runs} == {((1, 1, 3), 1)}
    wide = plan_of(study=FUNCTIONS | {"runs.base.net.hidden": [9]})
    assert wide.samples.keys().isdisjoint(plan.samples)


def test_a_measure_of_such_a_run_also_reads_how_often_functions_came_up(plan_of):
    plan = plan_of(study=FUNCTIONS)
    jobs = jobs_of(plan)
    for measurement in plan.measurements:
        files = {name: Path(file) for name, file in jobs[measurement].inputs.items()}
        assert files.keys() == {"images", "samples", "functions", "weights", "outcomes"}
        assert files["functions"].parent == files["samples"].parent
        assert files["functions"].parent.parent.name == "functions"


def kinds(plan):
    """Of samples; each needs its subset too, and every source is the one asked for."""
    for samples in plan.samples.values():
        assert subset_of(samples) in plan.samples.values()
        assert subset_of(samples).source.kind == "digits"
    return {type(samples) for samples in plan.samples.values()}


def test_a_fixed_split_is_drawn_once_for_all_realizations(plan_of):
    (samples,) = plan_of(study={"runs.base.data.split": 9}).samples.values()
    assert samples.seeds == (9,)
    (samples,) = plan_of().samples.values()
    assert samples.seeds == (0, 1)


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


def test_runs_that_record_a_trajectory_lie_in_a_room_of_their_own(plan_of):
    recorded = {"runs.base.snapshots": "fc2", "runs.base.stop.extra_epochs": 1}
    plan = plan_of(study=recorded)
    files = jobs_of(plan)["flat_fig1"].inputs["history"]
    assert {Path(file).parts[:2] for file in files} == {("results", "recordings")}
    files = jobs_of(plan_of())["flat_fig1"].inputs["history"]
    assert {Path(file).parts[:2] for file in files} == {("results", "runs")}


def test_the_nth_file_of_a_figure_belongs_to_its_nth_point(plan_of):
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


def test_the_picture_of_the_plan_has_every_job_and_what_feeds_it(plan_of):
    plan = plan_of(study={"runs.base.data.attack_size": 3})
    drawn = picture(plan, jobs_of(plan))
    nodes = {name for names in drawn["nodes"].values() for name in names}
    assert nodes == (
        plan.sources.keys()
        | plan.samples.keys()
        | plan.runs.keys()
        | plan.measurements.keys()
        | plan.figures.keys()
    )
    assert drawn["studies"] == dict.fromkeys(nodes, "flat")
    fed, feeding = {edge[1] for edge in drawn["edges"]}, {edge[0] for edge in drawn["edges"]}
    assert nodes - fed == plan.sources.keys()
    assert nodes - feeding == plan.figures.keys()
    json.dumps(drawn)


def test_what_is_left_out_of_the_study_is_a_default(plan_of):
    spelled = {"runs.base.penalty": {"coefficient": 0.0}, "runs.base.net.bias": False}
    assert plan_of(study=spelled).runs.keys() == plan_of().runs.keys()


def test_where_data_lie_moves_no_id(plan_of):
    plan, moved = plan_of(), plan_of(user={"data_root": "elsewhere"})
    assert moved.runs == plan.runs
    assert moved.sources == plan.sources


def test_an_unused_source_may_be_left_out(plan_of):
    assert plan_of(user={"sources.mnist": Removed}).runs == plan_of().runs


def test_a_measure_may_be_taken_at_any_checkpoint_and_at_the_end(plan_of):
    checkpoints = {"runs.base.checkpoints": [0, 3]}
    at = plan_of(study=checkpoints | {"measures.hidden.at": [3, 0, "final"]})
    assert {spec.options.at for spec in at.measurements.values()} == {(3, 0, "final")}
    end = plan_of(study=checkpoints)
    assert {spec.options.at for spec in end.measurements.values()} == {("final",)}
    assert not at.measurements.keys() & end.measurements.keys()


def test_a_measure_reads_how_its_own_run_ended(plan_of):
    plan = plan_of()
    jobs = jobs_of(plan)
    for measurement, spec in plan.measurements.items():
        files = {name: Path(file) for name, file in jobs[measurement].inputs.items()}
        assert files.keys() == {"images", "samples", "weights", "outcomes"}
        assert plan.runs[files["outcomes"].parent.name] == spec.run
        assert files["outcomes"].parent == files["weights"].parent


def test_all_moments_are_spelled_out(plan_of):
    study = {
        "runs.base.checkpoints": [0, "5..15/5"],
        "runs.base.stop.extra_epochs": 9,
        "runs.base.overtraining": [3, 9],
        "measures.hidden.at": ["all"],
    }
    plan = plan_of(study=study)
    moments = {spec.options.at for spec in plan.measurements.values()}
    assert moments == {(0, 5, 10, 15, "met+3", "met+9", "final")}
