"""What is told of a mistyped target, and which targets are none of our business."""

import pytest
from small_configuration import PRESET, STUDY, USER, changed, write

from flatlas.errors import FlatlasError
from flatlas.plan.resolve import resolve
from flatlas.plan.targets import check_targets, targets_of

RULES = ["all", "duality", "duality_fig3", "duality_fig12", "train"]
FILES = ["results/demo/duality/fig3.pdf", "results/demo/duality/fig3.csv", "results/runs/{run}/x"]


@pytest.mark.parametrize(
    "target",
    ["all", "duality_fig3", "results/demo/duality/fig3.csv", "results/runs/one/x", "docs/a.html"],
)
def test_rules_figures_and_files_of_others_pass(target):
    check_targets([target], RULES, FILES)


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("duality_fig33", "duality_fig3"),
        ("dualty", "duality"),
        ("al", "all"),
        ("results/demo/duality/fgi3.pdf", "results/demo/duality/fig3.pdf"),
        ("results/demo/duality/fig3.cvs", "results/demo/duality/fig3.csv"),
    ],
)
def test_a_mistyped_target_gets_the_nearest_one(target, meant):
    with pytest.raises(FlatlasError) as raised:
        check_targets(["all", target], RULES, FILES)
    assert str(raised.value).startswith(f"'{target}' is no target. Did you mean '{meant}'?")
    assert "--list-rules" in str(raised.value)


@pytest.mark.parametrize("target", ["results/laptop/duality/fig3.pdf", "results/paper/report.html"])
def test_a_figure_of_another_preset_is_told_how_to_ask_for_it(target):
    preset = target.split("/")[1]
    with pytest.raises(FlatlasError) as raised:
        check_targets([target], RULES, FILES, presets=["laptop", "paper"])
    assert str(raised.value) == f"'{target}' is of another preset: add --config preset={preset}."


def test_a_folder_that_only_begins_like_a_preset_is_none_of_our_business():
    check_targets(["results/papers/one.pdf"], RULES, FILES, presets=["paper"])


def test_a_name_like_nothing_gets_no_guess():
    with pytest.raises(FlatlasError, match=r"^'qqq' is no target\. `snakemake --list-rules`"):
        check_targets(["qqq"], RULES, FILES)


@pytest.mark.parametrize(
    ("arguments", "targets"),
    [
        (["-n", "--cores", "2", "duality_fig3", "all"], ["duality_fig3", "all"]),
        (["--config", "preset=laptop", "--", "all"], ["all"]),
        (["all", "--config", "preset=laptop", "realizations=2"], ["all"]),
        (["--rerun-triggers", "mtime", "params", "-n"], []),
        ([], []),
    ],
)
def test_targets_are_found_among_the_options(arguments, targets):
    assert targets_of(["/somewhere/bin/snakemake", *arguments]) == targets
    assert targets_of(["/somewhere/snakemake/__main__.py", *arguments]) == targets


@pytest.mark.parametrize("other", ["flat_fig1", "flat_fig"])
def test_two_targets_of_one_name_are_refused(tmp_path, other):
    """A study and a figure, or figures of two studies."""
    one = changed(STUDY, {"figures.fig_fig1": STUDY["figures"]["fig1"]})
    write(tmp_path / "studies" / "flat.yaml", one)
    write(tmp_path / "studies" / f"{other}.yaml", STUDY)
    write(tmp_path / "presets" / "small.yaml", changed(PRESET, {"studies": {}}))
    target = "flat_fig1" if other == "flat_fig1" else "flat_fig_fig1"
    with pytest.raises(FlatlasError, match=f"the target '{target}'"):
        resolve(changed(USER, {"studies": {}}), tmp_path)


def test_another_program_has_no_targets():
    assert targets_of(["/somewhere/bin/pytest", "all"]) == []
