"""The report: one HTML file with every figure and what the paper says of it."""

import re


def test_the_report_holds_every_figure_with_its_caption(finished, tmp_path):
    report = tmp_path / "report.html"
    finished.snakemake("--report", str(report), "all")
    html = report.read_text()
    for target in ("duality_fig3", "duality_s4", "dag"):
        caption = (finished / f"workflow/report/{target}.rst").read_text()
        headline = re.match(r"\*\*(.*?)\*\*", caption, flags=re.DOTALL)[1]
        assert " ".join(headline.split()) in " ".join(html.split())
    for figure in ("fig3.png", "s4.png", "dag.png"):
        assert figure in html
