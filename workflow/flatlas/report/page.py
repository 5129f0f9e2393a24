"""The report: one page that holds everything a reader wants, and fetches nothing."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from flatlas.report import scorecard
from flatlas.report.costs import duration
from flatlas.report.markup import READING, bar, claims, document, plain, symbols, tally

STYLE = """
body { margin: 0; display: grid; grid-template-columns: 15rem minmax(0, 1fr); }
.side { position: sticky; top: 0; height: 100vh; overflow-y: auto; box-sizing: border-box;
  padding: 1.2rem 1rem 3rem; background: #f5f6f7; border-right: 1px solid #ddd; font-size: .85rem; }
.side a { display: block; text-decoration: none; padding: .1rem 0; }
.side summary { cursor: pointer; padding: .3rem 0; font-weight: 600; line-height: 1.25; }
.side .figures { columns: 2; padding-left: 1rem; }
main { padding: 1.5rem 2.5rem 5rem; max-width: 1250px; }
h2 { font-size: 1.4rem; line-height: 1.25; margin: 4rem 0 .3rem; padding-top: 1rem;
  border-top: 3px solid #1c1c1c; }
h3 { font-size: 1.12rem; margin: 3rem 0 .6rem; }
h3 .name { color: #6b6b6b; font-weight: normal; margin-right: .6rem; }
img { max-width: 100%; height: auto; display: block; margin: .6rem 0; }
.paper { color: #555; font-style: italic; }
.caption p { margin: .6rem 0; }
.facts, .links { font-size: .85rem; color: #444; }
.links a { margin-right: 1rem; }
details.more { margin: .4rem 0; }
details.more > summary { cursor: pointer; color: #00507d; font-size: .9rem; }
.settings td { font-family: ui-monospace, monospace; font-size: .78rem; padding: .15rem .6rem; }
.missing { color: #6b6b6b; border: 1px dashed #999; padding: 1rem; }
@media (max-width: 60rem) { body { display: block; } .side { position: static; height: auto; } }
@media print { .side { display: none; } body { display: block; } }
"""


@dataclass(frozen=True)
class Change:
    """A setting that the paper has otherwise."""

    key: str
    paper: str
    here: str


@dataclass(frozen=True)
class Figure:
    """A figure with all that is told of it; without a `picture` it is not drawn."""

    target: str
    name: str
    title: str
    caption: str
    picture: bytes = b""
    facts: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    claims: pd.DataFrame | None = None
    changes: Sequence[Change] = ()


@dataclass(frozen=True)
class Study:
    """A study and its figures."""

    name: str
    title: str
    paper: str
    figures: Sequence[Figure]

    @property
    def judged(self) -> scorecard.Study:
        """The claims, as the scorecard has them."""
        told = [
            scorecard.Figure(one.name, one.title, "", one.claims)
            for one in self.figures
            if one.claims is not None
        ]
        return scorecard.Study(self.name, self.title, told)


@dataclass(frozen=True)
class Report:
    """All that the page shows; `opening` is the target of a figure that is shown first, too."""

    preset: str
    scale: str
    judged: bool
    studies: Sequence[Study]
    stages: pd.DataFrame
    dag: bytes
    opening: str = ""


def report(told: Report) -> str:
    """The page as HTML."""
    studies = "".join(_study(study, told.preset) for study in told.studies)
    body = (
        f"{_side(told)}<main>\n{_opening(told)}{studies}"
        f"{_costs(told.stages)}{_pipeline(told.dag)}</main>\n"
    )
    return document(f"flatlas: {told.scale}", STYLE, body)


def _side(told: Report) -> str:
    studies = ""
    for study in told.studies:
        links = "".join(
            f'<a href="#{plain(one.target)}" title="{plain(one.title)}">{plain(one.name)}</a>'
            for one in study.figures
        )
        studies += (
            f'<details><summary>{plain(study.name)}</summary><a href="#{plain(study.name)}">'
            f'{plain(study.title)}</a><div class="figures">{links}</div></details>\n'
        )
    ends = '<a href="#costs">What it cost</a><a href="#pipeline">The pipeline</a>'
    return f'<nav class="side"><a href="#top"><b>flatlas</b></a>\n{studies}{ends}</nav>\n'


def _opening(told: Report) -> str:
    judged = [study.judged for study in told.studies if study.judged.figures]
    text = (
        '<h1 id="top">Does the flatness of the loss landscape explain generalization?</h1>\n'
        "<p>Every figure of the texts that argue about it, computed from data set to picture at"
        f" the scale <strong>{plain(told.scale)}</strong>, and what came out of their claims."
        " Everything is in this page; only the links below each figure lead to files beside it.</p>"
    )
    if not told.judged:
        text += (
            "<p><strong>This scale shows that everything works and decides nothing:</strong> its"
            " data are not the papers', so every claim is undecided, whatever its number.</p>"
        )
    if judged:
        everything = pd.concat([study.claims for study in judged])
        text += f"{bar(everything)}\n{scorecard.summary(judged)}<p>{READING}</p>\n"
    first = [one for study in told.studies for one in study.figures if one.target == told.opening]
    for figure in first:
        link = f'<a href="#{plain(figure.target)}">{symbols(figure.title)}</a>'
        text += f"<h3>{link}</h3>\n{_picture(figure, told.preset)}{figure.caption}\n"
    return text


def _study(study: Study, preset: str) -> str:
    figures = "".join(_figure(figure, preset) for figure in study.figures)
    return (
        f'<section id="{plain(study.name)}">\n<h2>{symbols(study.title)}</h2>\n'
        f'<p class="paper">{plain(study.paper)}</p>\n{figures}</section>\n'
    )


def _figure(figure: Figure, preset: str) -> str:
    links = "".join(
        f'<a href="{plain(where)}">{plain(what)}</a>' for what, where in figure.files.items()
    )
    return (
        f'<article id="{plain(figure.target)}">\n<h3><span class="name">{plain(figure.name)}</span>'
        f"{symbols(figure.title)}</h3>\n{_picture(figure, preset)}"
        f'<div class="caption">{figure.caption}</div>\n<p class="facts">{plain(figure.facts)}</p>\n'
        f"{_claims(figure)}{_changes(figure.changes)}"
        f'<p class="links">{links}</p>\n</article>\n'
    )


def _picture(figure: Figure, preset: str) -> str:
    if not figure.picture:
        command = f"snakemake {figure.target} --config preset={preset}"
        return f'<p class="missing">Not drawn: <code>{plain(command)}</code> makes it.</p>\n'
    return _embedded(figure.picture, figure.title)


def _embedded(picture: bytes, told: str) -> str:
    encoded = b64encode(picture).decode()
    return f'<img alt="{plain(told)}" src="data:image/png;base64,{encoded}">\n'


def _claims(figure: Figure) -> str:
    if figure.claims is None:
        return ""
    summary = f"What is claimed {tally(figure.claims)}"
    return f'<details class="more"><summary>{summary}</summary>{claims(figure.claims)}</details>\n'


def _changes(changes: Sequence[Change]) -> str:
    if not changes:
        return ""
    rows = ""
    for one in changes:
        cells = "".join(f"<td>{plain(cell)}</td>" for cell in (one.key, one.paper, one.here))
        rows += f"<tr>{cells}</tr>\n"
    header = "<tr><th>setting</th><th>the study's own</th><th>here</th></tr>"
    told = f"{len(changes)} setting{'s' * (len(changes) > 1)} other than the study's own"
    return (
        f'<details class="more"><summary>{told}</summary>\n<table class="settings">'
        f"<thead>{header}</thead>\n<tbody>\n{rows}</tbody></table></details>\n"
    )


def _costs(stages: pd.DataFrame) -> str:
    header = "".join(
        f'<th class="{"number" if column else ""}">{name}</th>'
        for column, name in enumerate(("stage", "jobs", "in all", "longest", "most memory"))
    )
    rows = "".join(_cost(row) for row in stages.to_dict("records"))
    total = duration(stages["seconds"].sum())
    return (
        '<section id="costs">\n<h2>What it cost</h2>\n<p>The jobs behind these figures took'
        f" {total} together, one after the other, on the machines that made them; a job that"
        " several figures need counts once.</p>\n"
        f"<table><thead><tr>{header}</tr></thead>\n<tbody>\n{rows}</tbody></table>\n</section>\n"
    )


def _cost(row: Mapping[Any, Any]) -> str:
    numbers = (
        f"{row['jobs']}",
        duration(row["seconds"]),
        duration(row["longest"]),
        f"{row['peak_mib'] / 1024:.1f} GiB",
    )
    cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
    return f"<tr><td>{plain(row['stage'])}</td>{cells}</tr>\n"


def _pipeline(dag: bytes) -> str:
    picture = _embedded(dag, "The pipeline") if dag else '<p class="missing">Not drawn.</p>\n'
    return (
        '<section id="pipeline">\n<h2>The pipeline</h2>\n<p>Every dot is a job, every line a file'
        " that one job writes and another reads. What serves one study alone has its colour; what"
        " several share is black."
        f"</p>\n{picture}</section>\n"
    )


def read_picture(path: str | Path) -> bytes:
    """The bytes of a picture; none where it is not drawn."""
    return Path(path).read_bytes() if Path(path).is_file() else b""
