"""The job of the atlas' measure table: which networks, with which settings and measures."""

import json
from functools import cache
from pathlib import Path

import pytest
from shipped import shipped
from small_configuration import RUN, STUDY, USER, write

from flatlas.plan.answers import answers_of
from flatlas.plan.cleaning import unused
from flatlas.plan.described import settings_of
from flatlas.plan.further_settings import further_settings
from flatlas.plan.ids import run_id
from flatlas.plan.networks import TARGET
from flatlas.plan.tables import NETWORK_SETTINGS
from flatlas.plan.training_specs import RunSpec

# Beginnings of keys that are no settings of a network when it is measured.
NOT_OF_A_NETWORK = (
    "of",
    "stop.extra_epochs",
    "stop.epochs",
    "overtraining",
    "snapshots",
    "measures.",
)
# Options that come with an optimizer's name.
OF_OPTIMIZER = ("optimizer.momentum", "optimizer.nesterov", "optimizer.betas", "optimizer.epsilon")
OF_OPTIMIZER += ("optimizer.smoothing", "optimizer.decay", "optimizer.langevin_steps")
OF_OPTIMIZER += ("optimizer.gamma", "optimizer.noise", "optimizer.averaging", "optimizer.inner_lr")
OF_OPTIMIZER += ("optimizer.initial_accumulator",)
# Settings with columns of another name.
DERIVED = {
    "net.hidden": "width",
    "data.per_class": "data.train_size",
    # A mark of the number beside it.
    "full_batch": "batch",
}


@cache
def answers(preset):
    return answers_of(shipped(preset))


@pytest.mark.parametrize("preset", ["demo", "laptop"])
def test_the_table_has_every_network_and_measure_of_the_figures(preset):
    job = answers(preset).jobs[TARGET]
    points = job.spec["points"]
    assert len({(point["sweep"], point["run"]) for point in points}) == len(points)
    drawn = [one for one in shipped(preset).figures.values() if one.study == "atlas"]
    taken = {
        (entry.sweep, entry.run): {*entry.measurements}
        for figure in drawn
        for entry in figure.entries
        if "norms" in entry.measurements
    }
    assert {(point["sweep"], point["run"]) for point in points} == {*taken}
    assert {name for names in taken.values() for name in names} <= {*job.spec["options"]}
    assert {*job.outputs.values()} <= {*answers(preset).studies["atlas"].results}


@pytest.mark.parametrize("preset", ["demo", "laptop"])
def test_each_axis_of_the_atlas_has_a_column(preset):
    varied = {
        key
        for figure in shipped(preset).figures.values()
        if figure.study == "atlas"
        for entry in figure.entries
        for key in entry.point
        if not key.startswith((*NOT_OF_A_NETWORK, *OF_OPTIMIZER))
    }
    assert {DERIVED.get(key, key) for key in varied} <= {*NETWORK_SETTINGS}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, {"batch": 25, "data.train_size": 4000, "outputs": 10, "width": 30, "depth": 2}),
        ({"batch": "full"}, {"batch": 4000}),
        ({"penalty": {"coefficient": 0.5}}, {"penalty.coefficient": 0.5}),
        ({"net": RUN["net"] | {"hidden": [7]}}, {"width": 7, "depth": 1}),
        (
            {"samples": {"subset": RUN["samples"], "size": 100, "seeds": [0, 1]}, "batch": "full"},
            {"data.attack_size": 100, "data.train_size": 4000, "batch": 4100},
        ),
        (
            {"samples": {"subset": RUN["samples"], "fraction": 0.25, "seeds": [0, 1]}},
            {"data.label_noise": 0.25, "data.attack_size": 0},
        ),
    ],
)
def test_the_settings_of_a_network_are_those_of_its_run(change, found):
    settings = settings_of(RunSpec.model_validate(RUN | change))
    assert {*settings} == {*NETWORK_SETTINGS}
    assert found.items() <= settings.items()


def specs(*changes):
    return {
        str(place): RunSpec.model_validate(RUN | change) for place, change in enumerate(changes)
    }


def further_of(*changes):
    return [*further_settings(specs(*changes))[0].values()]


def test_options_that_distinguish_runs_of_one_optimizer_have_columns():
    momentum = {"name": "momentum", "lr": 0.1}
    adam = {"name": "adam", "lr": 0.1}
    found = further_of(
        {},
        {"optimizer": momentum | {"momentum": 0.5}},
        {"optimizer": momentum},
        {"optimizer": adam},
        {"optimizer": adam | {"lr": 0.2, "betas": [0.8, 0.999]}},
    )
    assert found == [
        {},
        {"optimizer.momentum": 0.5},
        {"optimizer.momentum": 0.9},
        {"optimizer.betas": "0.9;0.999"},
        {"optimizer.betas": "0.8;0.999"},
    ]


def test_runs_that_differ_in_what_has_a_column_or_ends_later_have_no_further_one():
    longer = {"stop": {"epochs": 200, "extra_epochs": 5}, "overtraining": [2]}
    other_net = {"net": RUN["net"] | {"hidden": [7, 7]}}
    other_rate = {"optimizer": {"name": "sgd", "lr": 0.2}}
    assert further_of({}, longer, other_net, other_rate) == [{}] * 4


def test_runs_that_start_elsewhere_or_have_other_images_or_layers_differ():
    found = further_of(
        {},
        {"net": RUN["net"] | {"hidden": [30, 10]}},
        {"samples": RUN["samples"] | {"split": 3}},
        {"start": {"run": RUN, "fresh": ["fc"]}},
    )
    start = {"start.run": run_id(RunSpec.model_validate(RUN)), "start.fresh": "fc"}
    assert found == [{}, {"net.hidden": "30;10"}, {"data.split": 3}, start]


@pytest.mark.parametrize(
    ("values", "kind", "written"),
    [
        ([2, 3], "int", [2, 3]),
        ([0.5, 1], "float", [0.5, 1]),
        ([1, True], "str", ["1", "true"]),
        (["x", 1], "str", ["x", "1"]),
        ([1, None], "str", ["1", "null"]),
        ([[1, 2], [{"k": 1}]], "str", ["1;2", '[{"k": 1}]']),
    ],
)
def test_a_column_has_one_type_for_all_values(values, kind, written):
    """The arguments of a user's own net may be anything."""
    own = {"family": "own", "module": "nets:Net"}
    runs = specs(*({"net": own | {"arguments": {"size": value}}} for value in values))
    settings, types = further_settings(runs)
    assert types == {"net.arguments.size": kind}
    assert [one["net.arguments.size"] for one in settings.values()] == written


def test_full_batches_are_marked_where_their_size_does_not_say_it():
    attacked = {"samples": {"subset": RUN["samples"], "size": 100, "seeds": [0, 1]}}
    full, mark = {"batch": "full"}, {"full_batch": True}
    assert further_of({}, full, full) == [{}] * 3, "4000 images are the full batch"
    assert further_of({}, full, attacked | full) == [{}, mark, mark], "of two sizes"
    assert further_of({"batch": 4000}, full) == [{}, mark], "of a size that another run has, too"


def test_the_table_is_not_listed_as_unused(tmp_path, monkeypatch):
    """A small study with the name and the preset of the atlas' table."""
    monkeypatch.chdir(tmp_path)
    write(Path("config/presets/demo.yaml"), {"title": "Demo"})
    write(Path("config/studies/atlas.yaml"), STUDY)
    job = answers("demo").jobs[TARGET]
    file = Path(job.outputs["provenance"])
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"spec": job.spec, "sha256": {"networks.parquet": ""}}))
    assert unused(USER, Path("config")) == []
    Path("config/studies/atlas.yaml").rename("config/studies/other.yaml")
    assert job.outputs["provenance"] in unused(USER, Path("config"))
