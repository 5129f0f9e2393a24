"""The scorecard: all claims of a study on one page that opens in any browser."""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from typing import Any

import pandas as pd

from flatlas.scorecard.claims import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.scorecard.strip import strip

# A sign and a shade each: blue, vermilion and grey differ to every eye, and the signs in print.
MARKS = {
    REPRODUCED: ("✓", "#0072b2"),
    NOT_REPRODUCED: ("✗", "#b84a00"),
    UNDECIDED: ("?", "#6b6b6b"),
}
HEADER = ("the paper says", "judged by", "holds if", "paper", "here [interval]", "verdict")
STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, sans-serif; color: #1c1c1c; background: #fff;
  margin: 0 auto; max-width: 1320px; padding: 1.5rem 2rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.1rem; margin: 2.4rem 0 .3rem; display: flex; align-items: baseline; gap: .8rem; }
h2 .tally { margin-left: auto; font-weight: normal; font-size: .9rem; white-space: nowrap; }
a { color: #00507d; }
p { max-width: 60rem; margin: .5rem 0; }
nav { margin: 1rem 0; line-height: 1.9; }
nav a { margin-right: .9rem; white-space: nowrap; }
.bar { display: flex; height: .8rem; margin: 1rem 0 .5rem; gap: 2px; }
.counts span { margin-right: 1.4rem; font-weight: 600; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; min-width: 1050px; table-layout: fixed; }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem; }
th { font-weight: 600; font-size: .8rem; color: #555; border-bottom: 1px solid #888; }
td { border-bottom: 1px solid #e2e2e2; overflow-wrap: break-word; }
.id, .quantity, .note { font-size: .8rem; color: #555; }
.id { font-family: ui-monospace, monospace; font-size: .72rem; }
.interval { white-space: nowrap; }
sub { font-size: .75em; line-height: 0; }
.verdict { font-weight: 600; white-space: nowrap; }
.note { font-weight: normal; white-space: normal; }
.strip { display: block; margin-top: .25rem; }
"""
WIDTHS = ("26%", "28%", "8%", "9%", "14%", "15%")
# σ_g, ΔL_s, N_te, t_β, µ_w,n: what hangs below in the paper does so here.
SUBSCRIPT = re.compile(r"_((?:te|β|[a-z])(?:,n)?)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class Figure:
    """One figure's claims; its picture `<name>.png` lies beside the page."""

    name: str
    title: str
    claims: pd.DataFrame


def page(title: str, scale: str, figures: Sequence[Figure]) -> str:
    """The claims of one study as HTML, figure by figure, with a count of the verdicts on top."""
    verdicts = pd.concat([figure.claims["verdict"] for figure in figures])
    links = "".join(f'<a href="#{_(one.name)}">{_(one.name)}</a> ' for one in figures)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>Scorecard: {_(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{_(title)}</h1>\n<p>What the paper claims, and what came out at the scale"
        f" <strong>{_(scale)}</strong>. A claim holds if its number, with the 95 % bootstrap"
        " interval over realizations (of fewer than five the range of the resamples, which covers"
        " less, as the claim then says), lies where the criterion says (the shaded band);"
        " it fails if the whole interval lies outside; otherwise it is undecided.</p>\n"
        f"{_bar(verdicts)}\n<nav>{links}</nav>\n"
        + "".join(map(_section, figures))
        + "</body>\n</html>\n"
    )


def _bar(verdicts: pd.Series) -> str:
    counts = verdicts.value_counts()
    parts, told = "", ""
    for verdict, (sign, shade) in MARKS.items():
        count = int(counts.get(verdict, 0))
        parts += f'<div style="flex:{count};background:{shade}"></div>' if count else ""
        told += f'<span style="color:{shade}">{sign} {count} {verdict}</span>'
    return f'<div class="bar">{parts}</div>\n<p class="counts">{told} of {len(verdicts)} claims</p>'


def _section(figure: Figure) -> str:
    counts = figure.claims["verdict"].value_counts()
    tally = " ".join(
        f'<span style="color:{shade}">{sign}&thinsp;{counts[verdict]}</span>'
        for verdict, (sign, shade) in MARKS.items()
        if verdict in counts
    )
    columns = "".join(f'<col style="width:{width}">' for width in WIDTHS)
    header = "".join(f"<th>{name}</th>" for name in HEADER)
    rows = "\n".join(_row(claim) for claim in figure.claims.to_dict("records"))
    return (
        f'<section id="{_(figure.name)}">\n<h2><a href="{_(figure.name)}.png">{_(figure.name)}</a>'
        f'<span>{_(figure.title)}</span><span class="tally">{tally}</span></h2>\n'
        f'<div class="table"><table><colgroup>{columns}</colgroup>\n'
        f"<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>\n</section>\n"
    )


def _row(claim: Mapping[Hashable, Any]) -> str:
    value, low, high, start, end = (
        float(str(claim[name])) for name in ("value", "low", "high", "holds_from", "holds_to")
    )
    sign, shade = MARKS[str(claim["verdict"])]
    cells = (
        f'{_symbols(claim["says"])}<div class="id">{_(claim["claim"])}</div>',
        f'<span class="quantity">{_symbols(claim["quantity"])}</span>',
        _(claim["criterion"]).replace("-", "−"),
        _(claim["paper"]),
        _number(value, low, high) + strip((start, end), value, (low, high), shade),
        f'<span class="verdict" style="color:{shade}">{sign} {_(claim["verdict"])}</span>'
        f'<div class="note">{_(claim["note"])}</div>',
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _number(value: float, low: float, high: float) -> str:
    if not isfinite(value):
        return "—"
    interval = f"[{low:.3g}, {high:.3g}]" if isfinite(low) and isfinite(high) else ""
    told = f'<b>{value:.3g}</b> <span class="interval">{interval}</span>'
    return told.replace("-", "−")


def _symbols(text: Any) -> str:
    return SUBSCRIPT.sub(r"<sub>\1</sub>", _(text))


def _(text: Any) -> str:
    """Text as HTML; an empty cell of a table read back is NaN."""
    return "" if pd.isna(text) else escape(str(text))
