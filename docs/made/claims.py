"""All claims of the studies in docs/gallery: a table of each study's, figure by figure."""

import sys
from itertools import groupby

from gallery import GALLERY, SCORECARD, figure_of, scale
from pages import ROOT, table

sys.path.insert(0, str(ROOT / "workflow"))

from flatlas.claims.claim import FLATLAS
from flatlas.plan.documents import read_yaml
from flatlas.report.published import Published, published
from flatlas.report.rendering import FILTERS, render
from flatlas.report.verdicts import SIGNS

HEADER = ["", "figure", "scale", "claim", "holds if", "paper", "here"]


def all_claims() -> str:
    """A section for each study."""
    scorecards = published(sorted(GALLERY.glob(f"*/{SCORECARD}")))
    sections = []
    for study, parts in groupby(scorecards, lambda one: one.name):
        title = read_yaml(ROOT / "config" / "studies" / f"{study}.yaml")["title"]
        rows = [row for part in parts for row in _rows(part)]
        sections.append(f"## {title}\n\n{table(HEADER, rows)}")
    return "\n\n".join(sections)


def _rows(part: Published) -> list[list[str]]:
    at = scale(part.preset, GALLERY / part.name)
    rows = []
    for claim in part.claims.to_dict("records"):
        figure = figure_of(claim["claim"], part.name)
        link = f"[{figure}](gallery/{part.name}/README.md#{figure})"
        sign = SIGNS[claim["verdict"]] + " ★" * (claim["whose"] == FLATLAS)
        here = render("number.txt", claim=claim)
        criterion = FILTERS["minus"](claim["criterion"])
        rows.append([sign, link, at, claim["says"], criterion, claim["paper"], here])
    return rows


CLAIMS = {"claims": all_claims}
