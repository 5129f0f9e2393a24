"""The setting `my_model` also makes the study that places networks in the atlas."""

from pathlib import Path

import pytest
from shipped import SHIPPED
from small_configuration import CONFIG

from flatlas.errors import FlatlasError
from flatlas.plan.answers import answers_of
from flatlas.plan.code import stage_code
from flatlas.plan.jobs import jobs_of
from flatlas.plan.networks import networks_job
from flatlas.plan.pages import report_studies
from flatlas.plan.resolve import resolve
from flatlas.report.entries import OUTDATED, read_report_entry

PICTURES = {"kind": "folder", "path": "pictures", "classes": 2, "channels": 1, "side": 28}
DENSE = {"family": "dense", "hidden": [40, 40], "bias": True, "init": {"scheme": "he_normal"}}
MINE = {"images": "pictures", "positive": [1], "weights": ["a.safetensors", "b.safetensors"]}
TARGET = "atlas_mine_place"


@pytest.fixture(scope="module", autouse=True)
def files(tmp_path_factory):
    """The user's files, in the current folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("mine"))
        for name in MINE["weights"]:
            Path(name).touch()
        Path("my_nets.py").write_text("from nets import Small\n")
        yield


@pytest.fixture(scope="module")
def plan(files):
    """The plan for two checkpoints of a dense network."""
    return plan_of(net=DENSE, same_as="mnist")


def plan_of(changes=None, **mine):
    sources = SHIPPED["sources"] | {"pictures": PICTURES}
    user = {"sources": sources, "my_model": MINE | mine, "studies": {"atlas_mine": changes or {}}}
    return resolve(SHIPPED | user, CONFIG)


def test_a_dense_network_is_measured_as_the_atlas_measures_its_own(plan):
    jobs = jobs_of(plan)
    mine, atlas = jobs[TARGET].spec, networks_job(plan, jobs).spec
    shared = {*mine["options"]} & {*atlas["options"]}
    assert {"norms", "sharpness", "hessian", "duality", "prior"} <= shared
    # A run of another study may have options of its own; the atlas' are those of its file.
    for name in ("norms", "sharpness", "hessian", "duality"):
        assert mine["options"][name] == atlas["options"][name], name
    assert mine["same_as"] == "mnist"
    assert [*{one["data.source"] for one in mine["settings"].values()}] == ["pictures"]
    assert {one["outputs"] for one in mine["settings"].values()} == {1}


def test_each_checkpoint_is_a_run_that_trains_nothing(plan):
    runs = [plan.runs[entry.run] for entry in plan.figures[TARGET].entries]
    assert [run.net.weights for run in runs] == MINE["weights"]
    assert {run.stop.epochs for run in runs} == {0}
    jobs = jobs_of(plan)
    for entry, file in zip(plan.figures[TARGET].entries, MINE["weights"], strict=True):
        assert jobs[entry.run].inputs["weights"] == file
        assert file in jobs[entry.run].modules, "a changed file is measured again"
    assert {*MINE["weights"]} <= plan.own_files


def test_none_of_the_atlas_networks_is_needed(plan):
    lookup = answers_of(plan)
    of_atlas = {*lookup.needed["atlas"]}
    trained = {name for name in lookup.needed["atlas_mine"] if lookup.jobs[name].rule == "train"}
    assert len(trained) == 2 and not trained & of_atlas


def test_a_page_without_the_measure_of_the_errors_is_refused(files):
    with pytest.raises(FlatlasError, match=r"place\.measures has nothing to draw: add norms"):
        plan_of({"figures": {"place": {"measures": ["hessian"]}}}, net=DENSE)


def test_a_module_is_measured_as_far_as_it_can_be():
    plan = plan_of(module="my_nets:Small")
    taken = {name for entry in plan.figures[TARGET].entries for name in entry.measurements}
    assert {"norms", "sharpness", "hessian"} <= taken
    assert not {"prior", "valley"} & taken


@pytest.mark.parametrize(
    ("measure", "option", "value"),
    [("duality", "layer", "fc99"), ("hessian", "at", [77]), ("regret", "batch", 1_000_000)],
)
def test_an_option_of_the_user_that_does_not_fit_is_refused_and_not_left_out(
    measure, option, value
):
    """Unlike measures that the atlas chose, which are left out where they do not fit."""
    with pytest.raises(FlatlasError) as raised:
        plan_of({"measures": {measure: {option: value}}}, net=DENSE)
    assert f"atlas_mine.measures.{measure}.{option} " in str(raised.value)


def test_the_page_of_a_dense_network_takes_the_duality_of_its_last_layer(plan):
    options = [
        plan.measurements[one].options
        for entry in plan.figures["my_model_spectrum"].entries
        for one in entry.measurements.values()
    ]
    assert {one.layer for one in options if one.measure == "duality"} == {"fc3"}


def test_the_study_makes_its_picture_table_and_page(plan):
    results = {*answers_of(plan).studies["atlas_mine"].results}
    names = ("place.png", "place.csv", "page.html")
    assert {f"results/demo/atlas_mine/{name}" for name in names} <= results


def test_the_report_compares_with_the_script_that_draws_the_figure(plan, tmp_path, provenance):
    of_study = {study["name"]: study["figures"] for study in report_studies(answers_of(plan))}
    (figure,) = of_study["atlas_mine"]
    picture, record = tmp_path / "place.png", tmp_path / "place.json"
    picture.touch()
    code, spec = stage_code("atlas_mine"), figure["spec"]
    provenance(record, files=[picture], spec=spec, code=code, realizations={})
    drawn = {"picture": picture, "files": {"provenance": record}, "changes": ["a change"]}
    entry = read_report_entry(figure | drawn, tmp_path)
    assert OUTDATED not in entry.facts
    assert entry.changes == ["a change"]
