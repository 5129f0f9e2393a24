"""The gallery's page tells the commands that made it, in words that a shell and Snakemake take."""

import importlib.util
import shlex
import sys
from pathlib import Path

import pytest
import yaml
from PIL import Image

COLLECT = Path(__file__).resolve().parents[1] / "docs" / "gallery" / "collect.py"
FIGURES = [f"fig{number}" for number in range(1, 31)]
LAPTOP = ["fig7", "fig30"]
CLAIMS = """claim,says,whose,quantity,criterion,paper,value,low,high,verdict,note
flat_fig1.a,it falls,paper,a number,below 0,,1.0,0.5,2.0,not reproduced,
flat_fig1.b,it rises,flatlas,a number,above 0,,1.0,0.5,2.0,reproduced,
"""
OWN = "sources: {cifar10: {kind: folder, path: cifar10, classes: 10}}\n"


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Collect a study of thirty small pictures, and give the page."""
    spec = importlib.util.spec_from_file_location("collect", COLLECT)
    collect = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(collect)
    monkeypatch.setattr(collect, "ROOT", tmp_path)
    monkeypatch.setattr(collect, "HERE", tmp_path)
    study = {"title": "T", "paper": "P", "figures": {name: {"title": name} for name in FIGURES}}
    (tmp_path / "config" / "studies").mkdir(parents=True)
    (tmp_path / "config" / "studies" / "flat.yaml").write_text(yaml.safe_dump(study))
    for name in FIGURES:
        drawn = tmp_path / "results" / ("laptop" if name in LAPTOP else "paper") / "flat"
        drawn.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 4)).save(drawn / f"{name}.png")
        (drawn / f"{name}.claims.csv").write_text(CLAIMS)
    (tmp_path / "own.yaml").write_text(OWN)

    def made(*options: str) -> str:
        given = ["flat", "paper", "--from", f"laptop:{','.join(LAPTOP)}", *options]
        monkeypatch.setattr(sys, "argv", ["collect.py", *given])
        collect.main()
        return (tmp_path / "flat" / "README.md").read_text()

    return made


def commands(page: str) -> list[list[str]]:
    """The words of each command in the page's blocks, as a shell splits them."""
    blocks = [block for block in page.split("\n\n") if block.startswith("    ")]
    split = [shlex.split(block.replace("\\\n", " ")) for block in blocks]
    return [words for words in split if words[0] in ("snakemake", "make")]


def test_each_figure_is_a_target_at_the_preset_it_was_drawn_at(page):
    for words, preset in zip(commands(page()), ("paper", "laptop"), strict=False):
        drawn = {f"flat_{name}" for name in FIGURES if (name in LAPTOP) is (preset == "laptop")}
        snakemake, *targets, config, chosen, root = words
        assert snakemake == "snakemake"
        assert sorted(targets) == sorted(drawn)
        assert (config, chosen, root) == ("--config", f"preset={preset}", "data_root=DIR")


def test_what_was_laid_over_the_configuration_is_told(page, tmp_path):
    told = page("--configfile", str(tmp_path / "own.yaml"))
    paper, laptop, made = commands(told)
    for words in (paper, laptop):
        assert words[words.index("--configfile") + 1] == "own.yaml"
        assert words.index("--configfile") < words.index("--config"), "targets end before it"
    assert "CONFIGFILE=own.yaml" in made
    assert f"    {OWN}" in told
    assert str(tmp_path) not in told


def test_the_page_says_how_it_was_made_and_how_to_read_it(page):
    told = page()
    assert commands(told)[-1] == [
        "make", "gallery", "STUDY=flat", "PRESET=paper", "FROM=laptop:fig7,fig30",
    ]  # fmt: skip
    reading = told.split("\n\n")[2]
    for said in ("(✓)", "(✗)", "(?)", "in brackets", "(../../flat.md)"):
        assert said in reading


def test_verdicts_are_counted_at_each_scale_apart(page):
    told = page()
    for count, preset in ((28, "paper"), (2, "laptop")):
        counts = f"0 reproduced (✓), {count} not reproduced (✗), 0 undecided (?)."
        assert f"- {count} claims at `{preset}`: {counts}" in told


def test_claims_of_an_older_flatlas_are_refused(page, tmp_path):
    old = tmp_path / "results" / "paper" / "flat" / "fig1.claims.csv"
    old.write_text("claim,says\nflat_fig1.a,it falls\n")
    with pytest.raises(SystemExit, match="older flatlas"):
        page()


def test_questions_of_ours_are_marked_and_counted_apart(page):
    told = page()
    assert told.count("\n| ✓ ★ | it rises |") == len(FIGURES)
    assert told.count("\n| ✗ | it falls |") == len(FIGURES)
    counts = "28 reproduced (✓), 0 not reproduced (✗), 0 undecided (?)."
    assert f"- 28 questions of ours at `paper`: {counts}" in told
