"""A gallery's page has commands, figures with captions and claims, and counts of verdicts."""

import re
import shlex
import shutil
import sys
from itertools import pairwise
from pathlib import Path

import collect
import gallery
import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from flatlas.plan.trees import location_of

DOCS = Path(__file__).resolve().parents[1] / "docs"
LIBRARY = DOCS.parent / "workflow" / "flatlas"
PAGES = sorted((DOCS / "gallery").glob("*/README.md"))
FIGURES = [f"fig{number}" for number in range(1, 13)]
LAPTOP = ["fig7", "fig12"]
CLAIMS = """\
claim,says,whose,quantity,criterion,holds_from,holds_to,paper,value,low,high,verdict,note
flat_fig1.a,|A| falls,paper,a number,below 0,-inf,0.0,,-1.04,0.5,2.0,not reproduced,
flat_fig1.b,it rises,flatlas,a number,above 0,0.0,inf,1,1.0,0.5,2.0,reproduced,
flat_fig1.c,it stays,paper,a number,above 0,0.0,inf,,,,,undecided,Lost.
"""
# Panels of a sweep: a spectrum, means, and means over two keys at once, each of three realizations.
MEANS = """\
optimizer.lr,n,quantity,mean,sd,realizations,converged,low,high,panel,batch
0.1,1,sigma_g,5.0,1.0,3,3,4.0,6.0,A,
0.1,,n_sharp,5.0,1.0,3,3,4.0,6.0,A,
0.1,,dual_gap,1.0,2.0,3,3,-1.0,3.0,B,
0.2,,dual_gap,3.0,1.0,3,2,2.0,4.0,B,
0.1,,S_w,4.0,0.0,3,3,4.0,4.0,B,
0.2,,S_w,8.0,0.0,3,2,8.0,8.0,B,
0.1,,dual_gap,1.0,2.0,3,3,-1.0,3.0,C,25
0.1,,dual_gap,2.0,2.0,3,3,-1.0,3.0,C,50
"""
OWN = "sources: {cifar10: {kind: folder, path: cifar10, classes: 10}}\n"


@pytest.fixture
def page(tmp_path, monkeypatch, provenance):
    """Collect a study of twelve small pictures, and give the page."""
    monkeypatch.setattr(collect, "ROOT", tmp_path)
    monkeypatch.setattr(collect, "GALLERY", tmp_path)
    study = {"title": "T", "paper": "P", "figures": {name: {"title": name} for name in FIGURES}}
    (tmp_path / "config" / "studies").mkdir(parents=True)
    (tmp_path / "config" / "studies" / "flat.yaml").write_text(
        yaml.safe_dump(study, sort_keys=False)
    )
    captions = tmp_path / "workflow" / "flatlas" / "studies" / "flat"
    captions.mkdir(parents=True)
    for name in FIGURES:
        (captions / f"{name}.rst").write_text(f"**A title\nof {name}.** Panel of {name}: σ_g,n.\n")
        drawn = tmp_path / "results" / ("laptop" if name in LAPTOP else "paper") / "flat"
        drawn.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 4)).save(drawn / f"{name}.png")
        claims = drawn / f"{name}.claims.csv"
        claims.write_text(CLAIMS.replace("flat_fig1", f"flat_{name}"))
        files = (claims, claims.with_name(f"{name}.png"))
        provenance(drawn / f"{name}.json", files=files)
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


def table(section: str) -> list[list[str]]:
    """The cells of a section's table, without its header."""
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def preset_of(name: str) -> str:
    return "laptop" if name in LAPTOP else "paper"


def test_the_commands_draw_each_figure_at_its_preset(page):
    paper, laptop, _ = commands(page())
    for words, preset in ((paper, "paper"), (laptop, "laptop")):
        drawn = {f"flat_{name}" for name in FIGURES if preset_of(name) == preset}
        snakemake, *targets, config, chosen, root = words
        assert snakemake == "snakemake"
        assert sorted(targets) == sorted(drawn)
        assert (config, chosen, root) == ("--config", f"preset={preset}", "data_root=DIR")


def test_figures_with_other_realizations_have_a_command_with_these(page, tmp_path):
    page()
    value = [{"optimizer.lr": 0.1, "realizations": 3}]
    groups = [{"figures": ["fig2", "fig3"], "config": {"flat.sweeps.rate.points": value}}]
    (tmp_path / "flat" / "realizations.yaml").write_text(yaml.safe_dump(groups))
    for text in (page(), page("--keep", "fig2")):
        first, second, laptop, _ = commands(text)
        assert {"flat_fig2", "flat_fig3"}.isdisjoint(first)
        assert second[1:3] == ["flat_fig2", "flat_fig3"]
        key, _, given = second[-1].partition("=")
        assert key == "studies.flat.sweeps.rate.points"
        assert yaml.safe_load(given) == value
        assert laptop[1:3] == ["flat_fig7", "flat_fig12"]


@pytest.mark.parametrize(
    "file",
    sorted((DOCS / "gallery").glob("*/realizations.yaml")),
    ids=lambda file: file.parent.name,
)
def test_the_realizations_of_a_gallery_are_of_sweeps_and_runs_of_its_figures(file):
    name = file.parent.name
    study = yaml.safe_load((DOCS.parent / "config" / "studies" / f"{name}.yaml").read_bytes())
    borrowed = {one: used["sweeps"][0] for one, used in study.get("borrowed", {}).items()}
    for group in yaml.safe_load(file.read_bytes()):
        sweeps = {one for figure in group["figures"] for one in study["figures"][figure]["sweeps"]}
        known = {f"{name}.runs.{study['sweeps'][one]['run']}" for one in sweeps - {*borrowed}}
        known |= {f"{name}.sweeps.{one}" for one in sweeps - {*borrowed}}
        known |= {borrowed[one].replace(".", ".sweeps.") for one in sweeps & {*borrowed}}
        for key in group["config"]:
            place = location_of(f"studies.{key}")[1:]
            assert ".".join(place[:3]) in known
            assert place[-1] in ("realizations", "points")


def test_an_unknown_study_is_refused_with_the_known_ones(page, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["collect.py", "flap", "paper"])
    with pytest.raises(SystemExit):
        collect.main()
    assert re.search(r"'flap' \(choose from '?flat'?\)", capsys.readouterr().err)


def test_the_page_shows_the_configuration_file_that_was_used(page, tmp_path):
    text = page("--configfile", str(tmp_path / "own.yaml"))
    paper, laptop, made = commands(text)
    for words in (paper, laptop):
        # In the repository's folder, where the commands are given.
        assert words[words.index("--configfile") + 1] == "docs/gallery/flat/own.yaml"
        assert words.index("--configfile") < words.index("--config"), "targets end before it"
    assert "CONFIGFILE=docs/gallery/flat/own.yaml" in made
    assert f"    {OWN}" in text
    assert str(tmp_path) not in text


def test_the_last_command_makes_the_page(page):
    assert commands(page())[-1] == [
        "make", "gallery", "STUDY=flat", "PRESET=paper", "FROM=laptop:fig7,fig12",
    ]  # fmt: skip
    assert commands(page("--without", "fig1"))[-1][-1] == "WITHOUT=fig1"


def test_a_kept_figure_stays_as_it_is_and_need_not_be_drawn(page, tmp_path, provenance):
    before = page()
    old = (tmp_path / "flat" / "fig2.png").read_bytes()
    drawn = tmp_path / "results" / "paper" / "flat"
    for name in ("fig2", "fig3"):
        for file in drawn.glob(f"{name}.*"):
            file.unlink()
    claims = drawn / "fig4.claims.csv"
    claims.write_text(claims.read_text().replace("it rises", "it falls"))
    files = (claims, claims.with_name("fig4.png"))
    provenance(drawn / "fig4.json", files=files)
    assert page("--keep", "fig2,fig3").replace("it falls", "it rises") == before
    assert "it falls" in (tmp_path / "flat" / "README.md").read_text()
    assert (tmp_path / "flat" / "fig2.png").read_bytes() == old
    with pytest.raises(SystemExit, match="fig99"):
        page("--keep", "fig99")


def test_each_figure_has_its_picture_and_its_claims(page, tmp_path):
    names = [FIGURES[0], *FIGURES[3:]]
    head, *sections = page("--without", "fig2,fig3").split("\n## ")
    assert [part.split(":")[0] for part in sections[:-1]] == names
    for name, section in zip(names, sections, strict=False):
        assert f"]({name}.png)" in section
        assert f"`{preset_of(name)}`. Panel of {name}: σ_g,n.\n" in section
        assert (tmp_path / "flat" / f"{name}.png").is_file()
        assert table(section) == [
            ["✗", "\\|A\\| falls", "a number", "below 0", "", "−1.04 [0.5, 2]", ""],
            ["✓ ★", "it rises", "a number", "above 0", "1", "1 [0.5, 2]", ""],
            ["?", "it stays", "a number", "above 0", "", "–", "Lost."],
        ]
    assert "fig2, fig3" in head
    for name, row in zip(names, table(head), strict=True):
        assert row == [
            f"[{name}](#{name})",
            name,
            f"`{preset_of(name)}`",
            "0",
            "1",
            "1",
            "1 · 0 · 0",
        ]
        assert f'<a id="{name}"></a>' in "".join([head, *sections])
    assert (LIBRARY / "report" / "templates" / "reading.txt").read_text() in head
    assert "(../../flat.md)" in head


def test_a_figure_missing_from_the_gallery_is_listed_as_not_drawn(page, tmp_path):
    before = page()
    file = tmp_path / "config" / "studies" / "flat.yaml"
    study = yaml.safe_load(file.read_text())
    study["figures"]["trace"] = {"title": "A new one"}
    file.write_text(yaml.safe_dump(study, sort_keys=False))
    text = gallery.page("flat", tmp_path / "flat", tmp_path)
    assert "trace.png" not in text and "flat_trace" not in text
    said = "Not drawn at this scale yet: trace.\n"
    assert said in text and text.replace(f"\n{said}", "") == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--without", "fig2,fig31"], "There is no fig31"),
        (["--from", "laptop:fig31"], r"fig31.*fig1, fig2"),
        (["--from", "laptop"], "--from is 'laptop'"),
    ],
)
def test_figures_that_do_not_exist_are_refused_and_the_page_stays(page, tmp_path, options, said):
    page()
    before = (tmp_path / "flat" / "README.md").read_bytes()
    with pytest.raises(SystemExit, match=said):
        page(*options)
    assert (tmp_path / "flat" / "README.md").read_bytes() == before


def test_the_scorecard_has_every_cell_as_it_was_written(page, tmp_path):
    page()
    rows = pd.read_csv(tmp_path / "flat" / "scorecard.csv", dtype=str, keep_default_na=False)
    parts = [CLAIMS.replace("flat_fig1", f"flat_{name}").splitlines() for name in FIGURES]
    lines = [parts[0][0], *(line for part in parts for line in part[1:])]
    written = (tmp_path / "flat" / "scorecard.csv").read_text().splitlines()
    assert [line.rpartition(",")[0] for line in written] == lines
    assert rows["preset"].value_counts().to_dict() == {"paper": 30, "laptop": 6}


def test_a_published_picture_keeps_rare_colours(tmp_path):
    """Blue dots between a ramp from green to white and one from light blue to white."""
    blue, ends = (0, 114, 178), [(0, 158, 115), (86, 180, 233)]
    ramps = np.linspace(ends, 255, 400, axis=1).round().astype(np.uint8)
    drawn = Image.fromarray(np.repeat(ramps, 50, axis=0))
    drawn.paste(blue, (50, 50, 54, 51))
    drawn.save(tmp_path / "large.png")
    collect._shrink(tmp_path / "large.png", tmp_path / "small.png")
    with Image.open(tmp_path / "small.png") as shrunk:
        found = shrunk.convert("RGB").getpixel((52, 50))
    assert found == pytest.approx(blue, abs=16)


def test_a_study_without_claims_has_a_page_of_pictures(page, tmp_path):
    for file in tmp_path.rglob("*.claims.csv"):
        file.unlink()
    text = page()
    assert text.count("\n![") == len(FIGURES)
    assert "scorecard.csv" not in text
    assert table(text)[0] == ["[fig1](#fig1)", "fig1", "`paper`", "", "", "", ""]
    assert not (tmp_path / "flat" / "scorecard.csv").exists()


def test_a_figure_that_draws_means_has_them_as_a_table(page, tmp_path, provenance):
    """A t interval of three realizations: 4.303 standard errors each way."""
    points = tmp_path / "results" / "paper" / "flat" / "fig2.csv"
    points.write_text(MEANS)
    files = [points, points.with_suffix(".png"), points.with_suffix(".claims.csv")]
    provenance(points.with_suffix(".json"), files=files)
    text = page()
    (section,) = [part for part in text.split("\n## ") if part.startswith("fig2:")]
    rows = [row for row in table(section) if row[0] in ("0.1", "0.2")]
    assert rows == [
        ["0.1", "1 [−3.97, 5.97]", "4 [4, 4]", "3 of 3"],
        ["0.2", "3 [0.516, 5.48]", "8 [8, 8]", "2 of 3"],
    ]
    assert "| `optimizer.lr` | ΔL | S_w | solutions |" in section
    means = pd.read_csv(tmp_path / "flat" / "means.csv")
    assert (means["figure"] == "fig2").all() and (means["preset"] == "paper").all()
    assert means["mean"].tolist() == [1.0, 3.0, 4.0, 8.0]
    assert means["high"][0] == pytest.approx(1 + 4.302653 * 2 / 3**0.5)


def test_heads_of_means_are_symbols_not_names_of_columns():
    folder = DOCS / "gallery" / "duality"
    columns = {*pd.read_csv(folder / "means.csv")["quantity"]}
    columns -= {symbol for symbols, *_ in gallery.glossary() for symbol in symbols}
    lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
    heads = [pair for pair in pairwise(lines) if pair[0].endswith("| solutions |")]
    assert heads
    for pair in heads:
        cells, widths = (re.split(r"(?<!\\)\|", line)[1:-1] for line in pair)
        assert len(cells) == len(widths)
        assert not columns & {cell.strip() for cell in cells}


def test_claims_and_our_questions_are_counted_for_each_preset_and_questions_as_yes_or_no(page):
    lines = [line for line in page().splitlines() if line[:2] == "- "]
    assert ["reproduced (✓)" in line for line in lines] == [True, False, True, False]
    assert ["yes (✓)" in line for line in lines] == [False, True, False, True]
    assert [re.findall(r"\d+|`\w+`", line) for line in lines] == [
        ["20", "`paper`", "0", "10", "10"],
        ["10", "`paper`", "10", "0", "0"],
        ["4", "`laptop`", "0", "2", "2"],
        ["2", "`laptop`", "2", "0", "0"],
    ]


def test_a_study_of_our_questions_mentions_no_paper(page):
    assert "than in the paper" in page()
    assert "than in the paper" not in gallery.page("atlas", DOCS / "gallery" / "atlas")


@pytest.mark.parametrize(
    ("file", "text"), [("fig1.claims.csv", "claim,says\nflat_fig1.a,it falls\n"), ("fig1.png", "")]
)
def test_a_figure_of_an_older_flatlas_or_not_drawn_is_refused(page, tmp_path, file, text):
    old = tmp_path / "results" / "paper" / "flat" / file
    old.unlink()
    if text:
        old.write_text(text)
    with pytest.raises(SystemExit, match=file if text else "snakemake flat_fig1 --config"):
        page()


def test_a_page_is_made_again_from_the_files_of_its_gallery_alone(page, tmp_path):
    text = page("--configfile", str(tmp_path / "own.yaml"))
    shutil.rmtree(tmp_path / "results")
    (tmp_path / "own.yaml").unlink()
    assert gallery.page("flat", tmp_path / "flat", tmp_path) == text
    gallery.Drawn("paper", "laptop:fig12").write(tmp_path / "flat")
    with pytest.raises(SystemExit, match=r"fig7 at laptop.* at paper"):
        gallery.page("flat", tmp_path / "flat", tmp_path)


def test_a_symbol_of_the_study_is_explained_if_it_occurs(monkeypatch):
    rows = [(["σ_g", "σ_g,n"], "sharpness", ["flat"]), (["n_s"], "number", ["flat"])]
    rows += [(["L"], "loss", ["flat"]), (["α"], "rate", ["other"])]
    monkeypatch.setattr(gallery, "glossary", lambda: rows)
    found = gallery.symbols_in("Sharpness σ_g,n (L^µ over α); ΔL, n_sharp", "flat")
    assert found == [("σ_g · σ_g,n", "sharpness"), ("L", "loss")]


@pytest.mark.parametrize("study", [path.parent.name for path in PAGES])
def test_the_glossary_has_every_symbol_with_an_index(study):
    text = (gallery.GALLERY / study / "README.md").read_text()
    text = text.partition("## How this page was made")[0].partition("## Symbols")[0]
    known = {
        one for symbols, _, studies in gallery.glossary() if study in studies for one in symbols
    }
    found = set(re.findall(r"(?<![\w.])[^\W\d_]{1,2}\u0303?²?_[^\W_]{1,2}²?(?!\w)(?:,n\b)?", text))
    assert {one for one in found if one not in known} == set()
