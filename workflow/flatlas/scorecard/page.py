"""The scorecard: all claims on one page that opens in any browser."""

import pandas as pd

from flatlas.scorecard.claims import NOT_REPRODUCED, REPRODUCED, UNDECIDED

HEADER = {
    "claim": "claim",
    "says": "the paper says",
    "quantity": "judged by",
    "criterion": "holds if",
    "paper": "paper",
    "ours": "here [95 %]",
    "verdict": "verdict",
}
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem; color: #222; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .45rem .8rem; border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #888; }
td:nth-child(1) { font-family: ui-monospace, monospace; font-size: 13px; }
td:nth-child(6), td:nth-child(7) { white-space: nowrap; }
"""


def page(title: str, claims: pd.DataFrame) -> str:
    """The claims of one study as HTML, with a count of the verdicts on top."""
    counts = claims["verdict"].value_counts()
    told = ", ".join(
        f"{counts.get(verdict, 0)} {verdict}"
        for verdict in (REPRODUCED, NOT_REPRODUCED, UNDECIDED)
    )
    shown = claims.assign(ours=claims.apply(_ours, axis=1))[list(HEADER)].rename(columns=HEADER)
    table = shown.fillna("").to_html(index=False, border=0)
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title>\n'
        f"<style>{STYLE}</style>\n<h1>{title}</h1>\n"
        f"<p>{len(claims)} claims: {told}.</p>\n{table}\n</html>\n"
    )


def _ours(claim: pd.Series) -> str:
    return f"{claim['value']:.3g} [{claim['low']:.3g}, {claim['high']:.3g}]"
