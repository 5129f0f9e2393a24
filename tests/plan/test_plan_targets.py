"""Which mistyped targets are refused, with which suggestion, and which targets are not checked."""

import pytest
from small_configuration import STUDY, USER, changed, write

from flatlas.errors import FlatlasError
from flatlas.plan.resolve import resolve
from flatlas.plan.targets import check_names, check_targets, targets_of

RULES = ["all", "clean_duality", "duality", "duality_fig3", "duality_fig12", "prior_fig3"]
STEPS = ["train"]
FOLDER = "results/demo/duality"
FILES = [f"{FOLDER}/fig3.pdf", f"{FOLDER}/fig3.csv", "results/runs/{run}/x", "results/runs/one/x"]
PRESETS = ["laptop", "paper"]


@pytest.mark.parametrize(
    "target",
    ["all", "duality_fig3", f"{FOLDER}/fig3.csv", "results/runs/one/x", "docs/a.html"],
)
def test_rules_figures_and_other_files_are_accepted(target):
    check_targets([target], RULES, STEPS, FILES, PRESETS)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("duality_fig33", "Did you mean 'duality_fig3'?"),
        ("train", "or force it with -R train"),
        ("dualty", "Did you mean 'duality'?"),
        ("al", "Did you mean 'all'?"),
        ("fig3", "Did you mean 'duality_fig3' or 'prior_fig3'?"),
        ("clean", "Did you mean 'clean_duality'?"),
        ("list", "`snakemake --list-rules`"),
        ("fig12", "Did you mean 'duality_fig12'?"),
        (f"{FOLDER}/fgi3.pdf", f"Did you mean '{FOLDER}/fig3.pdf'?"),
        (f"{FOLDER}/fig3.cvs", f"Did you mean '{FOLDER}/fig3.csv'?"),
        ("qqq", "`snakemake --list-rules`"),
        ("results/runs/oen/x", "Did you mean 'results/runs/one/x'?"),
        # Only the beginning is the name of a preset.
        ("results/papers/one.pdf", "Did you mean"),
        ("results/laptop/duality/fig3.pdf", "add --config preset=laptop"),
        ("results/paper/report.html", "add --config preset=paper"),
        ("preset=laptop", "--config preset=laptop"),
        ("data_root=/data", "--config data_root=/data"),
    ],
)
def test_a_mistyped_target_is_refused_with_what_to_do(target, said):
    with pytest.raises(FlatlasError) as raised:
        check_targets(["all", target], RULES, STEPS, FILES, PRESETS)
    assert str(raised.value).startswith(f"'{target}' is ")
    assert said in str(raised.value)
    assert ("Did you mean" in str(raised.value)) is said.startswith("Did")


@pytest.mark.parametrize("target", ["my_model", "atlas_mine", "clean_my_model"])
def test_targets_of_the_users_networks_need_their_setting(target):
    with pytest.raises(FlatlasError) as raised:
        check_targets([target], RULES, STEPS, FILES, PRESETS)
    assert str(raised.value).startswith(f"'{target}' needs the setting my_model")


@pytest.mark.parametrize(
    ("arguments", "targets"),
    [
        (["-n", "--cores", "2", "duality_fig3", "all"], ["duality_fig3", "all"]),
        (["--config", "preset=laptop", "--", "all"], ["all"]),
        (["all", "--config", "preset=laptop", "realizations=2"], ["all"]),
        (["duality", "preset=laptop"], ["duality", "preset=laptop"]),
        (["duality", "a=1", "-Cb=1", "--config=b=1", "c=2"], ["duality", "a=1"]),
        (["--rerun-triggers", "mtime", "params", "-n"], []),
        ([], []),
    ],
)
def test_targets_are_found_among_the_options_of_snakemake(arguments, targets):
    assert targets_of(["/somewhere/bin/snakemake", *arguments]) == targets
    assert targets_of(["/somewhere/snakemake/__main__.py", *arguments]) == targets
    assert targets_of(["/somewhere/bin/pytest", *arguments]) == []


def test_a_setting_among_known_targets_is_found():
    given_twice = ["preset=laptop", "duality", "--config", "preset=laptop"]
    for command in (["duality", "preset=laptop"], given_twice):
        assert "preset=laptop" in targets_of(["snakemake", *command], known=["duality"])
    settings = ["duality", "--config", "preset=laptop", "data_root=x", "--cores", "2"]
    assert targets_of(["snakemake", *settings], known=["duality"]) == []


@pytest.mark.parametrize("other", ["flat_fig1", "flat_fig"])
def test_two_targets_of_one_name_are_refused(tmp_path, other):
    """A study and a figure, or figures of two studies."""
    one = changed(STUDY, {"figures.fig_fig1": STUDY["figures"]["fig1"]})
    write(tmp_path / "studies" / "flat.yaml", one)
    write(tmp_path / "studies" / f"{other}.yaml", STUDY)
    write(tmp_path / "presets" / "small.yaml", {"title": "Small"})
    target = "flat_fig1" if other == "flat_fig1" else "flat_fig_fig1"
    with pytest.raises(FlatlasError, match=f"the target '{target}'"):
        resolve(USER, tmp_path)


@pytest.mark.parametrize(
    ("studies", "figures"),
    [
        *((["train"], {}), (["all"], {}), (["clean"], {"clean_unused": "clean"})),
        # Each study has a target that cleans.
        *((["unused"], {}), (["a", "clean_a"], {}), (["clean", "a"], {"clean_a": "clean"})),
        (["duality"], {"duality_fig3": "duality"}),
    ],
)
def test_a_study_or_figure_with_the_name_of_a_rule_is_refused(studies, figures):
    with pytest.raises(FlatlasError, match=r"^studies\."):
        check_names(studies, figures, [*RULES, *STEPS])
    check_names(["mine"], {"mine_gap": "mine"}, [*RULES, *STEPS])
