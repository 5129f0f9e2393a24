"""The setting `my_model` becomes a study of its own, whose mistakes are reported by its keys."""

import json
import shutil
from pathlib import Path

import pytest
from small_configuration import CONFIG, STUDY, USER, changed

from flatlas.plan.answers import answers_of
from flatlas.plan.cleaning import unused
from flatlas.plan.jobs import jobs_of
from flatlas.plan.pages import page_of

MINE = {"images": "digits", "module": "my_nets:Small", "weights": "small.safetensors"}
DENSE = {"family": "dense", "hidden": [40, 40], "bias": True}
OF_NET = {"module": None, "net": DENSE}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """The user's files, and the shipped study beside those of the small configuration."""
    monkeypatch.chdir(tmp_path)
    for name in ("small.safetensors", "late.safetensors"):
        (tmp_path / name).touch()
    (tmp_path / "my_nets.py").write_text("from nets import Small\n")
    (tmp_path / "config").mkdir()
    shutil.copy(CONFIG / "my_model.yaml", tmp_path / "config")


@pytest.mark.parametrize("study", ["my_model", "atlas_mine"])
def test_my_model_and_atlas_mine_are_refused_without_the_setting(refused, study):
    message = refused(user={f"studies.{study}": {"title": "Mine", "realizations": 1}})
    assert f"studies.{study} needs the setting my_model" in message


def test_the_checkpoint_is_measured_as_it_is_and_shown_on_a_page(plan_of):
    plan = plan_of(user={"my_model": MINE | {"arguments": {"width": 3}}})
    (run,) = {entry.run for entry in plan.figures["my_model_spectrum"].entries}
    spec = plan.runs[run]
    assert (spec.stop.epochs, spec.net.weights) == (0, "small.safetensors")
    assert spec.net.arguments == {"width": 3}
    assert spec.samples.source.kind == "digits"
    lookup = answers_of(plan)
    assert lookup.pages["my_model"]["html"] == "results/small/my_model/page.html"
    assert {*lookup.pages["my_model"].values()} <= {*lookup.studies["my_model"].results}
    assert page_of(lookup, ["my_model", "my_model_page"]) == lookup.pages["my_model"]["html"]
    assert "small.safetensors" in lookup.jobs["my_model_spectrum"].spec["shows"]


def test_arguments_that_its_module_does_not_take_are_refused_by_their_key(refused, tmp_path):
    (tmp_path / "my_nets.py").write_text("def Small(width):\n    pass\n")
    message = refused(user={"my_model": MINE})
    assert "my_model.arguments lacks width, " in message and "my_nets.py:1" in message


def test_the_run_expects_the_error_given_in_the_setting(plan_of):
    plan = plan_of(user={"my_model": MINE | {"expected": {"train_error": 0.25}}})
    (entry,) = plan.figures["my_model_spectrum"].entries
    assert plan.runs[entry.run].expected.train_error == 0.25


def test_several_checkpoints_are_several_runs_on_the_same_images(plan_of):
    weights = ["small.safetensors", "late.safetensors"]
    plan = plan_of(user={"my_model": MINE | {"weights": weights}})
    entries = plan.figures["my_model_spectrum"].entries
    assert [entry.point["net.weights"] for entry in entries] == weights
    jobs = jobs_of(plan)
    assert len({jobs[entry.run].inputs["samples"] for entry in entries}) == 1


def test_its_study_can_be_changed_like_any_other(plan_of):
    changes = {"studies.my_model.runs.model.data.train_size": 50}
    changes |= {"studies.my_model.figures.spectrum.measures": ["hessian"]}
    plan = plan_of(user={"my_model": MINE, **changes})
    (entry,) = plan.figures["my_model_spectrum"].entries
    assert plan.runs[entry.run].samples.train_size == 50
    assert [*entry.measurements] == ["hessian"]


def test_a_page_without_a_measure_that_its_figure_can_draw_is_refused(refused):
    figures = {"spectrum": {"measures": ["sharpness", "norms"]}}
    message = refused(user={"my_model": MINE, "studies.my_model.figures": figures})
    assert "spectrum.measures has nothing to draw: add hessian" in message


@pytest.mark.parametrize("figure", ["my_model.spectrum", "atlas_mine.place"])
def test_its_pages_are_lent_to_nobody(refused, figure):
    shutil.copy(CONFIG / "atlas_mine.yaml", "config")
    mine = {"title": "T", "borrowed": figure, "sweeps": ["alpha"], "measures": ["hidden"]}
    study = STUDY | {"figures": {"one": mine}}
    message = refused(user={"my_model": MINE, "studies.mine": study})
    assert f"studies.mine.figures.one.borrowed names '{figure}'" in message


def test_its_page_without_a_network_is_refused(refused):
    figures = {"spectrum": {"sweeps": []}}
    message = refused(user={"my_model": MINE, "studies.my_model.figures": figures})
    assert message.endswith("studies.my_model.figures.spectrum.sweeps is []: leave it out.")


def test_its_page_is_unused_once_the_setting_is_gone(plan_of, tmp_path):
    """The page and its table are no evidence without the results behind them."""
    lookup = answers_of(plan_of(user={"my_model": MINE}))
    page = lookup.pages["my_model"]
    record = {"spec": lookup.jobs["my_model_spectrum"].spec, "sha256": {}}
    record["sha256"] = {Path(page[kind]).name: "" for kind in ("html", "csv")}
    Path(page["json"]).parent.mkdir(parents=True)
    Path(page["json"]).write_text(json.dumps(record))
    assert unused(changed(USER, {"my_model": MINE}), tmp_path / "config") == []
    assert {*unused(USER, tmp_path / "config")} == {*page.values()}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"images": "digts"}, "my_model.images names 'digts'. Allowed: "),
        ({"module": "their_nets:Small"}, "my_model.module is 'their_nets:Small', but "),
        ({"module": "my_nets"}, "my_model.module: 'my_nets'"),
        ({"weights": "smal.safetensors"}, "my_model.weights is 'smal.safetensors', but "),
        ({"weights": "small.pt"}, "my_model.weights: 'small.pt'"),
        ({"weights": 3}, "my_model.weights is 3"),
        (
            {"weights": ["small.safetensors", "./small.safetensors"]},
            "my_model.weights: list each only once",
        ),
        ({"expected": {"train_error": 2}}, "my_model.expected.train_error is 2"),
        ({"wights": "a"}, "my_model.wights is not a key"),
        ({"module": None}, "my_model: set exactly one of module and net"),
        ({"net": DENSE}, "my_model: set exactly one of module and net"),
        (OF_NET | {"net": DENSE | {"hiden": [3]}}, "my_model.net.hiden is not a key"),
        (OF_NET | {"net": {"family": "dense"}}, "my_model.net.hidden is missing"),
        (OF_NET | {"net": DENSE | {"hidden": [5, 0]}}, "my_model.net.hidden.1 is 0"),
        (
            OF_NET | {"net": DENSE | {"init": {"bias_std": 1}}},
            "my_model.net.init.scheme is missing",
        ),
        (OF_NET | {"net": {"hidden": [3]}}, "my_model.net: family is missing. Allowed: dense"),
        (
            OF_NET | {"net": {"family": "resnet", "blocks": [1]}},
            "my_model.net: family is 'resnet'. Allowed: dense",
        ),
        (OF_NET | {"weights": ["c.safetensors"]}, "my_model.weights is 'c.safetensors'"),
        (OF_NET | {"arguments": {"width": 3}}, "my_model: arguments are those of a module"),
        (OF_NET | {"net": DENSE | {"weights": "w"}}, "my_model.net: weights stand beside net"),
        ({"images": "boolean"}, "my_model.images is 'boolean', whose inputs have no labels"),
        (OF_NET | {"positive": [10]}, "my_model.positive names '10'"),
        (OF_NET | {"same_as": "mnits"}, "my_model.same_as names 'mnits'. Allowed: "),
        (OF_NET | {"same_as": "mnist"}, "my_model.same_as is 'mnist', whose images"),
    ],
)
def test_a_mistake_is_reported_by_the_key_that_the_user_wrote(refused, changes, said):
    message = refused(user={"my_model": MINE | changes})
    assert message.startswith(f"config/config.yaml (or --configfile, --config): {said}")
    assert "\n" not in message
