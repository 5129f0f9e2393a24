"""Claims as HTML: a row a claim, a bar of verdicts. Whoever shows claims takes them from here."""

import re
from collections.abc import Hashable, Mapping
from html import escape
from math import isfinite
from typing import Any

import pandas as pd

from flatlas.claims.claim import FLATLAS, NOT_REPRODUCED, NOT_RUN, REPRODUCED, UNDECIDED
from flatlas.report.strip import strip

# A sign and a shade each: blue, vermilion and grey differ to every eye, and the signs in print.
MARKS = {
    REPRODUCED: ("✓", "#0072b2"),
    NOT_REPRODUCED: ("✗", "#b84a00"),
    UNDECIDED: ("?", "#6b6b6b"),
    NOT_RUN: ("–", "#767676"),
}
HEADER = ("claim", "judged by", "holds if", "paper", "here [interval]", "verdict")
WIDTHS = ("25%", "26%", "8%", "8%", "17%", "16%")
STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, sans-serif; color: #1c1c1c; background: #fff; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0; }
a { color: #00507d; }
p { max-width: 60rem; margin: .5rem 0; }
.bar { display: flex; height: .8rem; margin: 1rem 0 .5rem; gap: 2px; }
.counts span { margin-right: 1.4rem; font-weight: 600; }
.tally { font-size: .9rem; white-space: nowrap; }
.tally span { margin-right: .5rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
.claims { width: 100%; min-width: 1050px; table-layout: fixed; }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem; }
th { font-weight: 600; font-size: .8rem; color: #555; border-bottom: 1px solid #888; }
td { border-bottom: 1px solid #e2e2e2; overflow-wrap: break-word; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.id, .quantity, .note { font-size: .8rem; color: #555; }
.id { font-family: ui-monospace, monospace; font-size: .72rem; }
.interval { white-space: nowrap; }
.ours { font-size: .72rem; color: #555; border: 1px solid #999; padding: 0 .25rem; }
sub, sup { font-size: .75em; line-height: 0; }
.verdict { font-weight: 600; white-space: nowrap; }
.note { font-weight: normal; white-space: normal; }
.strip { display: block; margin-top: .25rem; }
"""
READING = (
    "A claim holds if its number, with the 95 % bootstrap interval over realizations, in the atlas"
    " over runs (of fewer than five the range of the resamples, which covers less, as the claim"
    " then says), lies where the criterion says (the shaded band); it fails if the whole interval"
    " lies outside; otherwise it is undecided. What no sentence of the text says is a question of"
    " ours: it is marked and counted apart, and its ✓ means yes, its ✗ no."
)
QUESTION = '<span class="ours">our question</span> '
# σ_g, ΔL_s, N_te, t_β, µ_w,n, p_49, M_ii: what hangs below in the paper does so here.
SUBSCRIPT = re.compile(r"_((?:te|ii|β|[0-9]+|[a-z])(?:,n)?)(?![a-z])", re.IGNORECASE)
# As F_i^−ψ and L^µ have above.
SUPERSCRIPT = re.compile(r"\^(−?\w+)")


def document(title: str, style: str, body: str) -> str:
    """A whole page, which fetches nothing."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{plain(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n"
        f"{body}</body>\n</html>\n"
    )


def whose(table: pd.DataFrame) -> tuple[pd.Series, pd.Series, int]:
    """The verdicts on claims of the texts, those on questions of ours; how many are not run."""
    drawn, own = table["verdict"] != NOT_RUN, table["whose"] == FLATLAS
    return table.loc[drawn & ~own, "verdict"], table.loc[drawn & own, "verdict"], sum(~drawn)


def bar(table: pd.DataFrame) -> str:
    """How many claims came out how: the texts' as a bar and in words, then questions of ours."""
    texts, questions, missing = whose(table)
    told = [_of_texts(texts)] if len(texts) else []
    if len(questions):
        told.append(f"<p>{_several(len(questions), 'question')} of ours: {signs(questions)}</p>")
    if missing:
        told.append(f"<p>{_several(missing, 'figure')} not run</p>")
    return "\n".join(told) or "<p>Nothing is claimed.</p>"


def _of_texts(verdicts: pd.Series) -> str:
    counts = verdicts.value_counts()
    parts, told = "", ""
    for verdict in (REPRODUCED, NOT_REPRODUCED, UNDECIDED):
        sign, shade = MARKS[verdict]
        count = int(counts.get(verdict, 0))
        parts += f'<div style="flex:{count};background:{shade}"></div>' if count else ""
        told += f'<span style="color:{shade}">{sign} {count} {verdict}</span>'
    return (
        f'<div class="bar">{parts}</div>\n'
        f'<p class="counts">{told} of {_several(len(verdicts), "claim")}</p>'
    )


def _several(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def tally(table: pd.DataFrame) -> str:
    """The same in a few signs."""
    texts, questions, missing = whose(table)
    told = signs(texts)
    if len(questions):
        told += f'<span class="tally">ours: </span>{signs(questions)}'
    return told + signs(pd.Series([NOT_RUN] * missing))


def signs(verdicts: pd.Series) -> str:
    """How many there are of each verdict."""
    counts = verdicts.value_counts()
    told = "".join(
        f'<span style="color:{shade}" title="{verdict}">{sign}&thinsp;{counts[verdict]}</span>'
        for verdict, (sign, shade) in MARKS.items()
        if verdict in counts
    )
    return f'<span class="tally">{told}</span>'


def claims(table: pd.DataFrame) -> str:
    """A table of claims, a row each."""
    columns = "".join(f'<col style="width:{width}">' for width in WIDTHS)
    header = "".join(f"<th>{name}</th>" for name in HEADER)
    rows = "\n".join(_row(claim) for claim in table.to_dict("records"))
    return (
        f'<div class="table"><table class="claims"><colgroup>{columns}</colgroup>\n'
        f"<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>\n"
    )


def _row(claim: Mapping[Hashable, Any]) -> str:
    value, low, high, start, end = (
        float(str(claim[name])) for name in ("value", "low", "high", "holds_from", "holds_to")
    )
    sign, shade = MARKS[str(claim["verdict"])]
    mark = QUESTION if claim["whose"] == FLATLAS else ""
    cells = (
        f'{mark}{symbols(claim["says"])}<div class="id">{plain(claim["claim"])}</div>',
        f'<span class="quantity">{symbols(claim["quantity"])}</span>',
        plain(claim["criterion"]).replace("-", "−"),
        plain(claim["paper"]),
        number(value, low, high) + strip((start, end), value, (low, high), shade),
        f'<span class="verdict" style="color:{shade}">{sign} {plain(claim["verdict"])}</span>'
        f'<div class="note">{plain(claim["note"])}</div>',
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def number(value: float, low: float, high: float) -> str:
    """A number with its interval; a dash where there is none."""
    if not isfinite(value):
        return "—"
    interval = f"[{low:.3g}, {high:.3g}]" if isfinite(low) and isfinite(high) else ""
    told = f'<b>{value:.3g}</b> <span class="interval">{interval}</span>'
    return told.replace("-", "−")


def symbols(text: Any) -> str:
    """Text with the papers' symbols in it."""
    return with_symbols(plain(text))


def with_symbols(html: str) -> str:
    """HTML with the papers' symbols in it."""
    return SUPERSCRIPT.sub(r"<sup>\1</sup>", SUBSCRIPT.sub(r"<sub>\1</sub>", html))


def plain(text: Any) -> str:
    """Text as HTML; an empty cell of a table read back is NaN."""
    return "" if pd.isna(text) else escape(str(text))
