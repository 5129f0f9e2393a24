"""The scorecard and the report: each one page of HTML that fetches nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from flatlas.report.published import Published
from flatlas.report.rendering import render
from flatlas.report.verdicts import Verdicts, count_verdicts

# The figure that the report also shows at its top: the ranking of all measures, where there is one.
OPENING = "atlas_fig1"


@dataclass(frozen=True)
class Entry:
    """A figure on a page. One without a `picture` is not drawn; `link` leads to the picture.

    `changes` are the settings that differ from the study's own: the key, its value there and here.
    """

    target: str
    name: str
    title: str
    claims: pd.DataFrame | None = None
    picture: Path | None = None
    link: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    caption: str = ""
    facts: str = ""
    changes: Sequence[tuple[str, str, str]] = ()


@dataclass(frozen=True)
class Chapter:
    """A study on a page."""

    name: str
    title: str
    entries: Sequence[Entry]
    paper: str = ""

    @property
    def claims(self) -> list[pd.DataFrame]:
        """The claims of each figure that has any."""
        return [entry.claims for entry in self.entries if entry.claims is not None]

    @property
    def verdicts(self) -> Verdicts:
        """The verdicts on the claims of all its figures."""
        return count_verdicts(pd.concat(self.claims))


@dataclass(frozen=True)
class Report:
    """What the report shows.

    `published` are claims judged on real data, for a scale that can't be `judged` itself.
    `explorer` is a link to that page, if there is one.
    """

    preset: str
    scale: str
    judged: bool
    chapters: Sequence[Chapter]
    stages: pd.DataFrame
    dag: Path
    published: Sequence[Published] = ()
    explorer: str = ""


def scorecard_page(title: str, scale: str, chapters: Sequence[Chapter]) -> str:
    """All claims, by study and figure."""
    claims = [claims for chapter in chapters for claims in chapter.claims]
    return render(
        "scorecard.html",
        title=title,
        scale=scale,
        chapters=chapters,
        verdicts=count_verdicts(pd.concat(claims)),
        titles=_titles(chapters),
    )


def report_page(report: Report) -> str:
    """All figures with their claims, and what they cost."""
    entries = [entry for chapter in report.chapters for entry in chapter.entries]
    judged = [chapter for chapter in report.chapters if report.judged and chapter.claims]
    claims = [claims for chapter in judged for claims in chapter.claims]
    claims += [one.claims for one in report.published]
    return render(
        "report.html",
        report=report,
        judged=judged,
        verdicts=count_verdicts(pd.concat(claims)) if claims else None,
        titles=_titles(report.chapters),
        opening=[entry for entry in entries if entry.target == OPENING],
    )


def _titles(chapters: Sequence[Chapter]) -> dict[str, str]:
    return {chapter.name: chapter.title for chapter in chapters}
