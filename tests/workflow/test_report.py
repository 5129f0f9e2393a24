"""The report: one HTML file with every figure in it, and what the paper says of each."""

import base64
import re


def test_the_report_holds_every_figure_with_its_caption(finished, tmp_path):
    report = tmp_path / "report.html"
    finished.snakemake("--report", str(report), "all")
    html = report.read_text()
    pictures = {
        "duality_fig3": "duality/fig3.png",
        "duality_s4": "duality/s4.png",
        "dag": "dag.png",
    }
    for target, picture in pictures.items():
        caption = (finished / f"workflow/report/{target}.rst").read_text()
        headline = re.match(r"\*\*(.*?)\*\*", caption, flags=re.DOTALL)[1]
        assert " ".join(headline.split()) in " ".join(html.split())
        encoded = base64.b64encode((finished / f"results/tiny/{picture}").read_bytes()).decode()
        assert encoded in html, f"{picture} is not in the report itself"
