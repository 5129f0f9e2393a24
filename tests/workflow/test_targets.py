"""What a user can ask for by name, and what Snakemake says of a mistake before anything runs."""

import re

import yaml
from checkout import ROOT

STUDIES = {
    path.stem: yaml.safe_load(path.read_text())
    for path in sorted((ROOT / "config" / "studies").glob("*.yaml"))
}
FIGURES = {f"{study}_{name}" for study, tree in STUDIES.items() for name in tree["figures"]}


def test_bare_snakemake_makes_everything_at_the_largest_preset(pristine):
    """The root Snakefile only gathers; without a default target it would make nothing."""
    planned = pristine.would_run("--config", "preset=paper")
    assert FIGURES | {"source", "subset", "dag"} <= planned.keys()
    assert planned["train"] >= len(STUDIES)


def test_every_rule_is_listed_and_says_what_it_is(pristine):
    lines = pristine.snakemake("--list-rules").splitlines()
    found = (re.fullmatch(r"(\w+)(?: \((.+)\))?", line) for line in lines)
    said = dict(one.groups() for one in found if one)
    assert {"all", "dag"} <= said.keys()
    assert [name for name, text in said.items() if text is None] == [], "rules without a word"
    for study, tree in STUDIES.items():
        assert tree["title"] in said[study]
        for name, figure in tree["figures"].items():
            assert said[f"{study}_{name}"] == f"Figure: {figure['title']}"
    internal = {name for name, text in said.items() if text.startswith("Internal: ")}
    assert {"source", "subset", "train", "record", "kernel", "measure_duality"} <= internal


def test_a_target_is_a_rule_or_a_file(tiny):
    measured = {"source", "subset", "train", "measure_duality"}
    drawn = {f"duality_{name}" for name in ("fig3", "s4", "scorecard")}
    for target, rules in {
        "duality_fig3": {*measured, "duality_fig3"},
        "results/tiny/duality/s4.csv": {*measured, "duality_s4"},
        "duality": measured | drawn,
        "dag": {"dag"},
    }.items():
        assert tiny.would_run(target).keys() == rules
    # Where the workflow catalog looks.
    assert tiny.would_run("-s", "workflow/Snakefile") == tiny.would_run()


CONFIG = "config/config.yaml"
TWIN = "results/twin/duality/fig3.pdf"
# The arguments of Snakemake, and what it says.
MISTAKES = [
    (["duality_fgi3"], "'duality_fgi3' is not a target. Did you mean 'duality_fig3'?"),
    (["results/tiny/duality/fig3.pgn"], "Did you mean 'results/tiny/duality/fig3.png'?"),
    (["-n", "source"], "'source' is a step of many figures"),
    ([TWIN], "add --config preset=twin"),
    (["all", "--config", "preset=tiny", "preset=tiny"], "--config sets 'preset' twice"),
]


def test_a_mistake_is_reported_and_nothing_is_run(tiny):
    (tiny / "config/presets/twin.yaml").write_text("title: Twin\n")
    for arguments, said in MISTAKES:
        assert_refused(tiny, arguments, said)
    text = (tiny / CONFIG).read_text()
    (tiny / CONFIG).write_text("")
    assert_refused(tiny, ["all"], f"{CONFIG} must hold a mapping of keys to values, but is empty")
    (tiny / CONFIG).write_text(text)
    assert not (tiny / "results").exists()
    assert "duality_fig3" in tiny.would_run(TWIN, "--config", "preset=twin")


def assert_refused(checkout, arguments, said):
    message = checkout.snakemake(*arguments, fails=True)
    assert said in message
    assert "Traceback" not in message
