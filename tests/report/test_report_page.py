"""The report's page: its contents, its links, and that no text breaks its HTML."""

import base64
import re

import pandas as pd
import pytest
from reading import Page

from flatlas.claims.claim import FLATLAS, UNDECIDED, Claim, at_least, claims_table, not_run
from flatlas.report.captions import caption
from flatlas.report.facts import facts
from flatlas.report.pages import Chapter, Entry, Report, report_page
from flatlas.report.published import published
from flatlas.report.rendering import render
from flatlas.statistics.estimate import Estimate

PICTURE = b"\x89PNG one"
CLAIM = Claim("rises", "ΔL_s <rises>", "change", at_least(0.8), Estimate(0.9, 0.85, 0.95))
STAGES = pd.DataFrame(
    [("train", 3, 7200.0, 3600.0, 2048), ("duality", 2, 30.0, 20.0, 512)],
    columns=["stage", "jobs", "seconds", "longest", "peak_mib"],
)


@pytest.fixture
def read(tmp_path):
    picture = tmp_path / "one.png"
    picture.write_bytes(PICTURE)
    drawn = Entry(
        "flat_fig1", "fig1", "Sharp & <flat>", claims_table("flat_fig1", [CLAIM], judged=True),
        picture, "", {"fig1.pdf": "flat/fig1.pdf"}, caption("**T.** What *it* shows."),
        "Drawn from 6 trainings.", [("runs.base.batch", "25", "<10>")],
    )  # fmt: skip
    waiting = Entry("flat_fig2", "fig2", "Late", not_run("flat_fig2", "Late"))
    schematic = Entry("sketch_fig1", "fig1", "A sketch", picture=picture, facts="Computed.")
    chapters = [
        Chapter("flat", "Flat & sharp", [drawn, waiting], "A & B, <2024>"),
        Chapter("sketch", "Sketches", [schematic], "C"),
    ]

    def page(**changes):
        given = dict(preset="demo", scale="Demo", judged=True, stages=STAGES, dag=picture)
        return Page(report_page(Report(chapters=chapters, **(given | changes))))

    return page


def test_every_link_within_the_page_leads_to_one_place(read):
    page = read()
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert {"flat", "flat_fig1", "flat_fig2", "sketch", "costs", "pipeline"} <= set(page.ids)


def test_pictures_are_in_the_page_itself(read):
    page = read()
    assert len(page.pictures) == 3
    for source in page.pictures:
        assert base64.b64decode(source.removeprefix("data:image/png;base64,")) == PICTURE


def test_a_figure_has_its_caption_facts_claims_settings_and_files(read):
    page = read()
    figure = page.inside["flat_fig1"]
    for part in ("Sharp & <flat>", "What it shows.", "Drawn from 6 trainings."):
        assert part in figure
    assert page.marked["paper"] == ["A & B, <2024>", "C"]
    _, claims, settings, *_ = page.tables
    assert claims[1][0] == "ΔLs <rises>flat_fig1.rises"
    assert claims[1][4] == "0.9 [0.85, 0.95]"
    assert settings[1:] == [["runs.base.batch", "25", "<10>"]]
    assert "flat/fig1.pdf" in page.links


def test_a_figure_that_is_not_drawn_says_how_to_draw_it(read):
    page = read()
    (missing,) = page.marked["missing"]
    assert "snakemake flat_fig2 --config preset=demo" in missing
    assert missing in page.inside["flat_fig2"]
    assert page.marked["counts"][0].endswith("of 1 claim")
    assert "1 figure not run" in page.text


def test_the_opening_shows_the_ranking_if_there_is_one(read, monkeypatch):
    without = read()
    monkeypatch.setattr("flatlas.report.pages.OPENING", "flat_fig1")
    assert len(read().pictures) == len(without.pictures) + 1


def test_the_page_says_how_to_read_a_verdict(read):
    assert " ".join(render("reading.txt").split()) in read().text


@pytest.fixture
def galleries(tmp_path):
    """Two scorecards: `flat` has a claim at each preset, `other` a question of ours."""
    claims = claims_table("flat_fig1", [CLAIM], judged=True)
    tables = {
        "flat": [claims.assign(preset="paper"), claims.assign(preset="laptop", verdict=UNDECIDED)],
        "other": [claims.assign(preset="laptop", whose=FLATLAS)],
    }
    for name, parts in tables.items():
        folder = tmp_path / "gallery" / name
        folder.mkdir(parents=True)
        pd.concat(parts).to_csv(folder / "scorecard.csv", index=False)
        (folder / "drawn.yaml").write_text("{preset: paper, configfile: own.yaml}")
        (folder / "own.yaml").write_text("studies: {}" if name == "other" else "sources: {}")
    return sorted(tmp_path.glob("gallery/*/scorecard.csv"))


def test_a_preset_without_verdicts_opens_with_the_published_ones(read, galleries):
    page = read(judged=False, published=published(galleries))
    assert re.findall(r"[✓✗?] \d+|\d+ claims", page.marked["counts"][0]) == [
        *("✓ 1", "✗ 0", "? 1", "2 claims"),
    ]
    assert page.tables[0][1:] == [
        ["Flat & sharp", "paper", "1", "✓ 1", "0", ""],
        ["Flat & sharp", "laptop", "1", "? 1", "0", ""],
        ["other", "laptop, partly smaller", "0", "", "1", "✓ 1"],
    ]
    (standin,) = page.marked["standin"]
    assert page.text.index(page.marked["counts"][0]) < page.text.index(standin)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)


def test_a_preset_with_verdicts_opens_with_its_own(read):
    page = read(judged=True)
    assert "standin" not in page.marked
    assert page.tables[0][1:] == [["Flat & sharp", "1", "✓ 1", "0", ""]]


def test_the_costs_of_all_stages_and_their_sum_are_shown(read):
    page = read()
    assert "2.0 h" in page.inside["costs"]
    assert page.tables[-1][1:] == [
        ["train", "3", "2.0 h", "60 min", "2.0 GiB"],
        ["duality", "2", "30 s", "20 s", "0.5 GiB"],
    ]


def test_a_caption_loses_its_title_and_keeps_its_words():
    html = caption("**A title\nof two lines.** Along p_i, F_i^−ψ & *more*, ``per_class``.\n")
    assert "title" not in html
    assert "<p>Along p<sub>i</sub>, F<sub>i</sub><sup>−ψ</sup> &amp; <em>more</em>" in html
    assert "per_class" in html


def test_names_of_figures_and_runs_have_no_subscripts():
    for name in ("duality_s14", "duality_s14_program", "annealing_fig2", "inverse_B50"):
        assert caption(f"**T.** As in {name}, µ_w,n and p_49.") == caption(
            "**T.** As in NAME, µ_w,n and p_49."
        ).replace("NAME", name)


def test_a_caption_adds_no_raw_html_and_includes_no_files(tmp_path):
    (tmp_path / "secret").write_text("hidden")
    html = caption(
        f"**T.** <script>\n\n.. raw:: html\n\n   <b>raw</b>\n\n.. include:: {tmp_path}/secret\n"
    )
    assert "<script>" not in html
    assert "<b>raw" not in html
    assert "hidden" not in html


def test_facts_count_trainings_and_those_without_a_solution():
    met = {"converged": True, "reason": "rule met"}
    lost = {"converged": False, "reason": "diverged"}
    runs = {"a": [{"seed": 0, **met}, {"seed": 1, **lost}], "b": [{"seed": 0, **met}]}
    text = facts(runs, ["mnist", "cifar10"])
    # Trainings, settings, seeds from and to, trainings without a solution, of which diverged.
    assert re.findall(r"\b\d+\b", text) == ["3", "2", "0", "1", "1", "1"]
    assert "mnist and cifar10" in text
    assert "diverged: 1" in text
    assert re.findall(r"\b\d+\b", facts({"a": [{"seed": 4, **met}]}, ["mnist"])) == ["1", "1", "4"]
    assert not re.findall(r"\d", facts({}, []))
