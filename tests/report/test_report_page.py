"""The report's page: everything is on it, everything leads somewhere, nothing breaks its HTML."""

import base64

import pandas as pd
import pytest
from reading import Page

from flatlas.claims.claim import Claim, at_least, claims_table, not_run
from flatlas.report.captions import caption
from flatlas.report.facts import facts
from flatlas.report.page import Change, Figure, Report, Study, report
from flatlas.statistics.estimate import Estimate

PICTURE = b"\x89PNG one"
CLAIM = Claim("rises", "ΔL_s <rises>", "change", at_least(0.8), Estimate(0.9, 0.85, 0.95))
STAGES = pd.DataFrame(
    [("train", 3, 7200.0, 3600.0, 2048), ("duality", 2, 30.0, 20.0, 512)],
    columns=["stage", "jobs", "seconds", "longest", "peak_mib"],
)


def read(**changes):
    drawn = Figure(
        "flat_fig1", "fig1", "Sharp & <flat>", "<p>What <em>it</em> shows.</p>", PICTURE,
        "Drawn from 6 trainings.", {"fig1.pdf": "flat/fig1.pdf"},
        claims_table("flat_fig1", [CLAIM], judged=True), [Change("runs.base.batch", "25", "<10>")],
    )  # fmt: skip
    waiting = Figure(
        "flat_fig2", "fig2", "Late", "<p>Later.</p>", claims=not_run("flat_fig2", "Late")
    )
    schematic = Figure("sketch_fig1", "fig1", "A sketch", "<p>None.</p>", PICTURE, "Computed.")
    studies = [
        Study("flat", "Flat & sharp", "A & B, <2024>", [drawn, waiting]),
        Study("sketch", "Sketches", "C", [schematic]),
    ]
    told = {
        "preset": "demo",
        "scale": "Demo",
        "judged": True,
        "stages": STAGES,
        "dag": PICTURE,
    } | changes
    return Page(report(Report(studies=studies, **told)))


def test_every_link_within_the_page_leads_to_one_place():
    page = read()
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert {"flat", "flat_fig1", "flat_fig2", "sketch", "costs", "pipeline"} <= set(page.ids)


def test_pictures_are_in_the_page_itself():
    page = read()
    assert len(page.pictures) == 3
    for source in page.pictures:
        assert base64.b64decode(source.removeprefix("data:image/png;base64,")) == PICTURE


def test_a_figure_tells_its_claims_its_files_and_what_it_is_of():
    page = read()
    text = page.text
    for told in ("Sharp & <flat>", "What it shows.", "Drawn from 6 trainings.", "A & B, <2024>"):
        assert told in text
    assert "0.9 [0.85, 0.95]" in text
    assert "ΔLs <rises>" in text
    assert "runs.base.batch25<10>" in text
    assert "flat/fig1.pdf" in page.links


def test_a_figure_that_is_not_drawn_says_how_to_draw_it():
    text = read().text
    assert "Not drawn: snakemake flat_fig2 --config preset=demo makes it." in text
    assert "of 1 claim\n" in text
    assert "1 figure not run" in text


def test_the_opening_shows_the_ranking_where_there_is_one():
    assert len(read(opening="flat_fig1").pictures) == len(read(opening="atlas_fig1").pictures) + 1


@pytest.mark.parametrize("judged", [True, False])
def test_a_scale_that_decides_nothing_says_so(judged):
    assert ("decides nothing" in read(judged=judged).text) is not judged


def test_the_costs_add_up():
    text = read().text
    assert "took 2.0 h together" in text
    assert "train32.0 h60 min2.0 GiB" in text
    assert "duality230 s20 s0.5 GiB" in text


def test_a_caption_loses_its_title_and_keeps_its_words(tmp_path):
    path = tmp_path / "one.rst"
    path.write_text("**A title\nof two lines.** Along p_i, F_i^−ψ & *more*, ``per_class``.\n")
    html = caption(path.read_text())
    assert "title" not in html
    assert "<p>Along p<sub>i</sub>, F<sub>i</sub><sup>−ψ</sup> &amp; <em>more</em>" in html
    assert "per_class" in html


def test_a_caption_brings_no_html_and_no_files_of_its_own(tmp_path):
    (tmp_path / "secret").write_text("hidden")
    path = tmp_path / "one.rst"
    path.write_text(
        f"**T.** <script>\n\n.. raw:: html\n\n   <b>raw</b>\n\n.. include:: {tmp_path}/secret\n"
    )
    html = caption(path.read_text())
    assert "<script>" not in html
    assert "<b>raw" not in html
    assert "hidden" not in html


def test_facts_count_trainings_and_those_without_a_solution():
    met = {"converged": True, "reason": "rule met"}
    lost = {"converged": False, "reason": "diverged"}
    runs = {"a": [{"seed": 0, **met}, {"seed": 1, **lost}], "b": [{"seed": 0, **met}]}
    told = facts(runs, ["mnist", "cifar10"])
    assert told.startswith("Drawn from 3 trainings on mnist and cifar10: 2 settings, seeds 0 to 1.")
    assert told.endswith("1 met no stopping rule (diverged: 1).")
    assert facts({"a": [{"seed": 4, **met}]}, ["mnist"]).endswith(
        "1 training on mnist: 1 setting, seed 4. All met their stopping rule."
    )
    assert facts(runs, ["mnist"], "Outdated.").endswith(" Outdated.")
    assert facts({}, []) == "Computed, from no training."
