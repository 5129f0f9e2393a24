"""What a user can ask for by name, and what is told of a name that is mistyped."""

import pytest
import yaml
from checkout import ROOT

STUDIES = {
    path.stem: yaml.safe_load(path.read_text())
    for path in sorted((ROOT / "config" / "studies").glob("*.yaml"))
}


def test_bare_snakemake_makes_everything(pristine):
    """The root Snakefile only gathers; without a default target it would make nothing."""
    figures = {f"{study}_{figure}" for study, told in STUDIES.items() for figure in told["figures"]}
    planned = pristine.would_run()
    assert figures <= planned.keys()
    assert {"source", "subset", "train", "dag"} <= planned.keys()


def test_every_figure_every_study_and_all_are_listed(pristine):
    listed = {line.split()[0] for line in pristine.snakemake("--list-rules").splitlines() if line}
    for study, told in STUDIES.items():
        assert study in listed
        assert {f"{study}_{figure}" for figure in told["figures"]} <= listed
    assert {"all", "dag", "train"} <= listed


def test_the_largest_preset_can_be_asked_for(pristine):
    planned = pristine.would_run("all", "results/paper/dag.png", "--config", "preset=paper")
    assert planned["train"] >= len(STUDIES)
    assert planned["dag"] == 1


@pytest.mark.parametrize(
    ("target", "rules"),
    [
        ("duality_fig3", {"source", "subset", "train", "measure_duality", "duality_fig3"}),
        (
            "results/tiny/duality/s4.csv",
            {"source", "subset", "train", "measure_duality", "duality_s4"},
        ),
        (
            "duality",
            {
                "source",
                "subset",
                "train",
                "measure_duality",
                "duality_fig3",
                "duality_s4",
                "duality_scorecard",
            },
        ),
        ("dag", {"dag"}),
    ],
)
def test_a_target_is_a_rule_or_a_file(tiny, target, rules):
    assert tiny.would_run(target).keys() == rules


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("duality_fgi3", "duality_fig3"),
        ("dualty", "duality"),
        ("results/tiny/duality/fig33.pdf", "results/tiny/duality/fig3.pdf"),
        ("results/tiny/duality/fig3.pgn", "results/tiny/duality/fig3.png"),
    ],
)
def test_a_mistyped_target_gets_the_nearest_and_nothing_is_run(tiny, target, meant):
    said = tiny.snakemake(target, fails=True)
    assert f"'{target}' is no target. Did you mean '{meant}'?" in said
    assert "snakemake --list-rules" in said
    assert "Traceback" not in said
    assert not (tiny / "results").exists()


def test_a_figure_of_another_preset_is_told_how_to_ask_for_it(tiny):
    (tiny / "config/presets/twin.yaml").write_text("title: Twin\n")
    said = tiny.snakemake("results/twin/duality/fig3.pdf", fails=True)
    assert "add --config preset=twin" in said
    assert "Traceback" not in said
    assert not (tiny / "results").exists()
    asked = ("results/twin/duality/fig3.pdf", "--config", "preset=twin")
    assert "duality_fig3" in tiny.would_run(*asked)


def test_a_figure_without_function_or_caption_is_told_and_nothing_is_run(tiny):
    tiny.set_study("figures", "s5", value={"title": "Five", "sweeps": ["alpha"], "claims": False})
    place = "config/studies/duality.yaml: figures.s5 needs"
    module = "workflow/flatlas/studies/duality/s5.py"
    (tiny / module).unlink(missing_ok=True)
    (tiny / "workflow/flatlas/studies/duality/s5.rst").unlink(missing_ok=True)
    said = tiny.snakemake("all", fails=True)
    assert f"{place} a function draw(material) in {module}, which is not there." in said
    (tiny / module).write_text("def draw(material):\n    ...\n")
    said = tiny.snakemake("all", fails=True)
    assert f"{place} a caption in workflow/flatlas/studies/duality/s5.rst." in said
    assert "Traceback" not in said
    assert not (tiny / "results").exists()
    (tiny / "workflow/flatlas/studies/duality/s5.rst").write_text("**Five.**\n")
    assert tiny.would_run("duality_s5")["duality_s5"] == 1


def test_a_mistake_in_the_configuration_is_told_and_nothing_is_run(tiny):
    tiny.edit("config/studies/duality.yaml", "realizations:", "realisations:")
    said = tiny.snakemake("all", fails=True)
    assert "config/studies/duality.yaml: realisations is not a key that is known here." in said
    assert "Did you mean 'realizations'?" in said
    assert "Traceback" not in said
    assert not (tiny / "results").exists()


@pytest.mark.parametrize("file", ["config/config.yaml", "mine.yaml"])
def test_a_key_twice_in_a_file_that_snakemake_reads_is_told_and_nothing_is_run(tiny, file):
    text = "studies: {duality: {runs: {base: {batch: 5}}}}\n"
    with (tiny / file).open("a") as config:
        config.write(f"{text}{text}")
    extra = ["--configfile", file] if file == "mine.yaml" else []
    said = tiny.snakemake("all", *extra, fails=True)
    assert f"{file}, line " in said
    assert "the key 'studies' is in line " in said
    assert "Traceback" not in said
    assert not (tiny / "results").exists()


def test_a_mistake_on_the_command_line_is_told_as_one(tiny):
    said = tiny.snakemake("all", "--config", "preset=tyni", fails=True)
    assert (
        "config/config.yaml (or --configfile, --config): preset is 'tyni'. Allowed: tiny." in said
    )
    assert "Did you mean 'tiny'?" in said


def test_where_the_catalog_looks_is_the_same_workflow(tiny):
    assert tiny.would_run("-s", "workflow/Snakefile") == tiny.would_run()
