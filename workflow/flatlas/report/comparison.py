"""Two scorecards side by side, as a page and in a few lines."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from flatlas.claims.claim import FLATLAS
from flatlas.claims.comparison import (
    ALIKE,
    CRITERION,
    MOVED,
    NUMBER,
    ONLY,
    SIDES,
    VERDICT,
)
from flatlas.report.markup import MARKS, QUESTION, document, number, plain, symbols

STYLE = """
body { margin: 0 auto; max-width: 1200px; padding: 1.5rem 2rem 4rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .3rem; }
table { width: 100%; }
"""
COLUMNS = ("claim", "before [interval]", "after [interval]", "verdict before", "after")
HEADER = "".join(f"<th>{column}</th>" for column in COLUMNS)
HEADINGS = {
    MOVED: "Moved beyond their intervals",
    CRITERION: "Judged by another criterion",
    VERDICT: "Same number within its interval, another verdict",
    **dict.fromkeys(ONLY.values(), ""),
    ALIKE: "Alike",
}


def comparison_page(compared: pd.DataFrame, before: str, after: str) -> str:
    """What moved comes first, what is alike last."""
    body = (
        "<h1>Two scorecards side by side</h1>\n"
        f"<p>Before: <code>{plain(before)}</code><br>After: <code>{plain(after)}</code></p>\n"
        "<p>A number has moved where the two intervals have no point in common.</p>\n"
    )
    for change, heading in HEADINGS.items():
        rows = compared[compared["change"] == change]
        if len(rows):
            cells = "\n".join(map(_row, rows.to_dict("records")))
            title = heading or change.capitalize()
            body += (
                f"<h2>{title} ({len(rows)})</h2>\n<table><thead><tr>{HEADER}</tr></thead>\n"
                f"<tbody>\n{cells}\n</tbody></table>\n"
            )
    return document("Comparison", STYLE, body)


def _row(claim: Mapping[Hashable, Any]) -> str:
    mark = QUESTION if claim["whose"] == FLATLAS else ""
    cells = [f'{mark}{symbols(claim["says"])}<div class="id">{plain(claim["claim"])}</div>']
    otherwise = claim["change"] == CRITERION
    for side in SIDES:
        judged = f"<br>{plain(claim[f'criterion_{side}'])}" if otherwise else ""
        cells.append(number(*(float(claim[f"{name}_{side}"]) for name in NUMBER)) + judged)
    for side in SIDES:
        verdict = claim[f"verdict_{side}"]
        sign, shade = MARKS.get(verdict, ("", "inherit"))
        cells.append(f'<span class="verdict" style="color:{shade}">{sign} {plain(verdict)}</span>')
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def told(compared: pd.DataFrame) -> str:
    """How many changed in which way, and which numbers moved."""
    counts = compared["change"].value_counts()
    ways = [
        f"{counts.get(way, 0)} {way}"
        for way in (MOVED, CRITERION, VERDICT, *ONLY.values())
        if way in counts
    ]
    lines = [f"{len(compared)} claims: {', '.join(ways) or 'all alike'}."]
    for claim in compared[compared["change"] == MOVED].to_dict("records"):
        sides = " → ".join(
            "{:.3g} [{:.3g}, {:.3g}]".format(*(claim[f"{name}_{side}"] for name in NUMBER))
            for side in SIDES
        )
        lines.append(f"  {claim['claim']}: {sides}")
    for claim in compared[compared["change"].isin([CRITERION, VERDICT])].to_dict("records"):
        verdicts = " → ".join(str(claim[f"verdict_{side}"]) for side in SIDES)
        lines.append(f"  {claim['claim']}: {verdicts}")
    return "\n".join(lines)
