"""Figures as they are on disk. Pages show the existing files, and say if they are outdated."""

from collections.abc import Mapping
from dataclasses import replace
from os.path import relpath
from pathlib import Path
from typing import Any

import pandas as pd

from flatlas.claims.claim import not_run
from flatlas.claims.written import read_claims
from flatlas.report.captions import caption
from flatlas.report.facts import facts
from flatlas.report.pages import Entry
from flatlas.store.provenance import made_otherwise, read_provenance, verify

OUTDATED = "Drawn with other settings or other code than the current ones."


def read_entry(figure: Mapping[str, Any], folder: Path) -> Entry:
    """A figure with its claims, for a page in `folder`, to which its links are relative."""
    names = figure["target"], figure["name"], figure["title"]
    files, picture = figure["files"], Path(figure["picture"])
    judged = "claims" in files
    # One job writes all files: if one is missing, the figure is not drawn.
    if not all(Path(file).is_file() for file in (*files.values(), picture)):
        return Entry(*names, not_run(figure["target"], figure["title"]) if judged else None)
    verify((*files.values(), picture))
    return Entry(
        *names,
        _claims(figure) if judged else None,
        picture,
        relpath(picture, folder),
        {Path(file).name: relpath(file, folder) for file in files.values()},
    )


def read_report_entry(figure: Mapping[str, Any], folder: Path) -> Entry:
    """A figure with its claims and all that the report adds."""
    entry = replace(read_entry(figure, folder), caption=caption(figure["caption"]))
    if entry.picture is None:
        return entry
    record = read_provenance(figure["files"]["provenance"])
    drawn_from = facts(record["realizations"], figure["data"])
    # The current settings say nothing about a figure that was drawn with others.
    if _is_outdated(figure):
        return replace(entry, facts=f"{drawn_from} {OUTDATED}")
    return replace(entry, facts=drawn_from, changes=figure["changes"])


def _claims(figure: Mapping[str, Any]) -> pd.DataFrame:
    claims = read_claims(figure["files"]["claims"])
    if not _is_outdated(figure):
        return claims
    return claims.assign(note=(claims["note"] + " " + OUTDATED).str.strip())


def _is_outdated(figure: Mapping[str, Any]) -> bool:
    """Whether the current `spec` or `code` differs from that in the figure's record."""
    return made_otherwise(figure["files"]["provenance"], figure["spec"], figure["code"])
