"""The scorecard: all claims of a study, or of all studies, on one page for any browser."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from flatlas.report.markup import (
    READING,
    bar,
    claims,
    document,
    plain,
    signs,
    symbols,
    tally,
    whose,
)

STYLE = """
body { margin: 0 auto; max-width: 1320px; padding: 1.5rem 2rem 4rem; }
h2 { font-size: 1.35rem; margin: 3rem 0 .3rem; }
h3 { font-size: 1.1rem; margin: 2.4rem 0 .3rem; display: flex; align-items: baseline; gap: .8rem; }
h3 .tally { margin-left: auto; font-weight: normal; }
nav { margin: 1rem 0; line-height: 1.9; }
nav a { margin-right: .9rem; white-space: nowrap; }
"""


@dataclass(frozen=True)
class Figure:
    """One figure's claims; `picture` is where it lies from the page, '' where it is not drawn."""

    name: str
    title: str
    picture: str
    claims: pd.DataFrame


@dataclass(frozen=True)
class Study:
    """One study's figures that claim something."""

    name: str
    title: str
    figures: Sequence[Figure]

    @property
    def claims(self) -> pd.DataFrame:
        """Those of all its figures."""
        return pd.concat([figure.claims for figure in self.figures])


def page(title: str, scale: str, studies: Sequence[Study]) -> str:
    """All claims as HTML, study by study and figure by figure, with a count of the verdicts."""
    everything = pd.concat([study.claims for study in studies])
    body = (
        f"<h1>{plain(title)}</h1>\n<p>What the papers claim, and what came out at the scale"
        f" <strong>{plain(scale)}</strong>. {READING}</p>\n{bar(everything)}\n"
    )
    if len(studies) == 1:
        body += _contents(studies[0]) + _sections(studies[0])
    else:
        body += summary(studies)
        for study in studies:
            heading = f'<h2 id="{plain(study.name)}">{symbols(study.title)}</h2>\n'
            body += heading + _contents(study) + _sections(study)
    return document(f"Scorecard: {title}", STYLE, body)


def summary(studies: Sequence[Study]) -> str:
    """A row a study: how its claims came out."""
    rows = ""
    for study in studies:
        texts, questions, _ = whose(study.claims)
        cells = "".join(
            f'<td class="number">{len(verdicts)}</td><td>{signs(verdicts)}</td>'
            for verdicts in (texts, questions)
        )
        link = f'<a href="#{plain(study.name)}">{symbols(study.title)}</a>'
        rows += f"<tr><td>{link}</td>{cells}</tr>\n"
    names = ("claims of the text", "questions of ours")
    heads = "".join(f'<th class="number">{name}</th><th></th>' for name in names)
    header = f"<tr><th>study</th>{heads}</tr>"
    return f"<table><thead>{header}</thead>\n<tbody>\n{rows}</tbody></table>\n"


def _contents(study: Study) -> str:
    links = "".join(
        f'<a href="#{_place(study, one)}">{plain(one.name)}</a> ' for one in study.figures
    )
    return f"<nav>{links}</nav>\n"


def _sections(study: Study) -> str:
    return "".join(_section(_place(study, figure), figure) for figure in study.figures)


def _section(place: str, figure: Figure) -> str:
    name = plain(figure.name)
    link = f'<a href="{plain(figure.picture)}">{name}</a>' if figure.picture else name
    return (
        f'<section id="{place}">\n<h3>{link}'
        f"<span>{symbols(figure.title)}</span>{tally(figure.claims)}</h3>\n"
        f"{claims(figure.claims)}</section>\n"
    )


def _place(study: Study, figure: Figure) -> str:
    return plain(f"{study.name}_{figure.name}")
