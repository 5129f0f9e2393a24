"""The report: one HTML file with every figure in it, and what the paper claims."""

import base64
import re

import pandas as pd
import pytest
from browser import found_on, screenshot
from reading import Page

from flatlas.report.entries import OUTDATED

REPORT = "results/tiny/report.html"
PICTURES = {
    "duality_fig3": "duality/fig3.png",
    "duality_s4": "duality/s4.png",
    "dag": "dag.png",
}


@pytest.mark.parametrize("whose", ["ours", "snakemake's"])
def test_a_report_holds_every_figure_with_its_caption(finished, tmp_path, whose):
    report = finished / REPORT
    if whose == "snakemake's":
        report = tmp_path / "report.html"
        finished.snakemake("--report", str(report), "all")
    html = report.read_text()
    for target, picture in PICTURES.items():
        if target != "dag":
            place = target.replace("_", "/", 1)
            caption = (finished / f"workflow/flatlas/studies/{place}.rst").read_text()
            headline = " ".join(re.match(r"\*\*(.*?)\.\*\*", caption, flags=re.DOTALL)[1].split())
            titles = ("Three", "Four") if whose == "ours" else (headline,)
            assert any(title in " ".join(html.split()) for title in titles)
        encoded = base64.b64encode((finished / f"results/tiny/{picture}").read_bytes()).decode()
        assert encoded in html, f"{picture} is not in the report itself"


def test_it_has_trainings_claims_and_costs(finished):
    page = Page((finished / REPORT).read_text())
    # Trainings, settings, seeds from and to.
    assert re.findall(r"\d+", page.marked["facts"][0]) == ["6", "3", "0", "1"]
    assert "duality_fig3.alpha_gap" in page.marked["id"]
    assert "train" in [row[0] for row in page.tables[-1]]
    assert OUTDATED not in page.text


@pytest.mark.parametrize("what", ["a rate", "a measure", "the code"])
def test_a_figure_of_other_settings_says_so(demo, what):
    if what == "a rate":
        demo.set_study("sweeps", "alpha", "grid", value={"optimizer.lr": [0.05, 0.15]})
    elif what == "a measure":
        demo.set_study("measures", "hidden", "layer", value="fc1")
    else:
        demo.change_function("workflow/flatlas/studies/duality/s4.py", "draw")
    demo.snakemake("report", "scorecard", "--config", "complete=false")
    assert OUTDATED in (demo / REPORT).read_text()
    notes = pd.read_csv(demo / "results/tiny/scorecard.csv")["note"].fillna("")
    assert notes.str.contains(OUTDATED).any()
    assert notes.str.contains(OUTDATED).all() == (what != "the code")


def test_a_changed_caption_remakes_the_report_and_nothing_else(demo):
    (demo / "workflow/flatlas/studies/duality/s4.rst").write_text("**Four.** Another text.\n")
    assert demo.would_run("all") == {"report": 1}


def test_a_changed_template_remakes_the_pages_and_nothing_else(demo):
    template = demo / "workflow/flatlas/report/templates/style.css"
    template.write_text(template.read_text() + "h1 { color: red; }\n")
    pages = {"report": 1, "scorecard": 1, "duality_scorecard": 1}
    assert demo.would_run("all", "duality_scorecard") == pages


def test_costs_are_measured_and_then_estimated_of_what_is_not_made(demo):
    said = demo.snakemake("costs")
    assert re.search(r"^duality_fig3 +\d+ +\d+ +[\d.]+ (s|min) +– ", said, flags=re.MULTILINE)
    demo.set_study("sweeps", "alpha", "grid", value={"optimizer.lr": [0.05, 0.1, 0.15]})
    said = demo.snakemake("costs")
    assert re.search(r"^duality_s4 +\d+ +\d+ +[\d.]+ (s|min) +[\d.]+ (s|min) ", said, re.MULTILINE)
    assert "unknown" not in said


@pytest.mark.browser
def test_in_a_browser_every_picture_loads_and_every_link_leads_somewhere(finished, tmp_path):
    report = finished / REPORT
    found = found_on(report)
    assert len(found["pictures"]) == len(PICTURES)
    assert all(width > 100 for _, width in found["pictures"]), found["pictures"]
    assert found["broken"] == []
    assert found["fetched"] == [], "the page holds everything"
    assert not found["wide"], "nothing sticks out to the right"
    assert found["files"]
    for file in found["files"]:
        assert (report.parent / file).is_file(), file
    for part in ("", "duality_fig3", "costs"):
        picture = screenshot(report, tmp_path / f"report-{part or 'top'}.png", part)
        assert picture.stat().st_size > 10_000


@pytest.mark.browser
def test_in_a_browser_the_scorecard_leads_to_its_figures(finished):
    page = finished / "results/tiny/scorecard.html"
    found = found_on(page)
    assert found["broken"] == []
    assert {"duality/fig3.png", "duality/s4.png"} <= set(found["files"])
    for file in found["files"]:
        assert (page.parent / file).is_file(), file
