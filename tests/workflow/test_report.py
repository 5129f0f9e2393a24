"""The report: one HTML file with every figure in it, and what the paper claims."""

import base64
import re

import pandas as pd
import pytest
from browser import found_on
from reading import Page

from flatlas.report.entries import OUTDATED

REPORT = "results/tiny/report.html"
PICTURES = ("duality/fig3.png", "duality/s4.png", "dag.png")


def test_our_report_and_snakemakes_hold_every_figure_with_its_title(finished, tmp_path):
    theirs = tmp_path / "report.html"
    finished.snakemake("--report", str(theirs), "all")
    captions = [
        finished / f"workflow/flatlas/studies/duality/{name}.rst" for name in ("fig3", "s4")
    ]
    headlines = [path.read_text().split("**")[1].rstrip(".") for path in captions]
    for report, titles in ((finished / REPORT, ["Three", "Four"]), (theirs, headlines)):
        html = report.read_text()
        for title in titles:
            assert " ".join(title.split()) in " ".join(html.split())
        for picture in PICTURES:
            encoded = base64.b64encode((finished / "results/tiny" / picture).read_bytes()).decode()
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


def test_costs_are_measured_and_then_estimated_of_what_is_not_made(demo):
    said = demo.snakemake("costs")
    assert re.search(r"^duality_fig3 +\d+ +\d+ +[\d.]+ (s|min) +– ", said, flags=re.MULTILINE)
    demo.set_study("sweeps", "alpha", "grid", value={"optimizer.lr": [0.05, 0.1, 0.15]})
    said = demo.snakemake("costs")
    assert re.search(r"^duality_s4 +\d+ +\d+ +[\d.]+ (s|min) +[\d.]+ (s|min) ", said, re.MULTILINE)
    assert "unknown" not in said
    assert demo.would_run("costs") == {}
    shipped = demo / "docs/made/costs/tiny_jobs.csv"
    shipped.parent.mkdir(parents=True)
    shipped.write_text("provenance,stage,net,units,seconds\n")
    assert demo.would_run("costs") == {"costs": 1}


@pytest.mark.browser
def test_in_a_browser_every_picture_loads_and_every_link_leads_somewhere(chromium, finished):
    report = finished / REPORT
    pages = [report, finished / "results/tiny/scorecard.html"]
    on = {page: found_on(chromium, page) for page in pages}
    for page, found in on.items():
        assert found["broken"] == []
        assert found["files"]
        for file in found["files"]:
            assert (page.parent / file).is_file(), file
    assert {"duality/fig3.png", "duality/s4.png"} <= set(found["files"])
    found = on[report]
    assert len(found["pictures"]) == len(PICTURES)
    assert all(width > 100 for _, width in found["pictures"]), found["pictures"]
    assert found["fetched"] == [], "the page holds everything"
    assert not found["wide"], "nothing sticks out to the right"
