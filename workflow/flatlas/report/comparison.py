"""Two scorecards side by side, as a page and in a few lines."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from flatlas.claims.claim import NOT_RUN
from flatlas.claims.comparison import ALIKE, CRITERION, FLIPPED, MOVED, NUMBER, ONLY, SIDES, VERDICT
from flatlas.errors import FlatlasError
from flatlas.report.readable import short
from flatlas.report.rendering import render
from flatlas.report.verdicts import SIGNS
from flatlas.store.provenance import provenance_of, verify
from flatlas.store.tables import read_table

# In the order of the page and of the lines.
HEADINGS = {
    FLIPPED: "Verdict flipped",
    VERDICT: "Verdict changed from or to undecided",
    MOVED: "Same verdict, but moved beyond their intervals",
    CRITERION: "Same verdict by another criterion",
    **{only: only.capitalize() for only in ONLY.values()},
    ALIKE: "Alike",
}


def read_scorecard(path: Path, presets: Iterable[Path]) -> pd.DataFrame:
    """A scorecard; an error if there is none, or if it is damaged.

    Snakemake makes scorecards in the folders of the `presets`; one elsewhere is a copy.
    """
    if not path.is_file():
        raise FlatlasError(
            f"there is no {path}. `snakemake scorecard --config preset=… complete=false` writes one"
            " for the figures that are drawn."
        )
    # A copied scorecard may have no provenance beside it.
    provenance = provenance_of(path)
    try:
        if provenance.exists():
            verify([path])
        table = read_table(path)
    except FlatlasError as error:
        if any(path.absolute().is_relative_to(preset.absolute()) for preset in presets):
            raise
        changed = f" If you changed it, delete {provenance}." if provenance.exists() else ""
        raise FlatlasError(
            f"{path} is damaged. Copy it again from where it was made, or make it again there."
            f"{changed}"
        ) from error
    missing = [name for name in ("claim", "verdict", *NUMBER) if name not in table]
    if missing:
        raise FlatlasError(f"{path} is not a scorecard: it has no column {', '.join(missing)}.")
    for mistake in _mistakes(table):
        raise FlatlasError(f"{path} is not a scorecard: {mistake}. Copy it again from its folder.")
    return table


def _mistakes(table: pd.DataFrame) -> Iterator[str]:
    """Errors in a scorecard; a copy without its provenance may have been edited or cut."""
    for claim, verdict in zip(table["claim"], table["verdict"], strict=True):
        if verdict not in SIGNS:
            yield f"the verdict of {claim} is '{verdict}'; allowed are {', '.join(SIGNS)}"
    claims = table["claim"][table["verdict"] != NOT_RUN]
    for claim in claims[claims.duplicated()]:
        yield f"{claim} appears twice"
    for name in NUMBER:
        if len(table) and not is_numeric_dtype(table[name]):
            yield f"{name} has entries that are not numbers"


def comparison_page(compared: pd.DataFrame, before: str, after: str) -> str:
    """The page: all claims of both, by how they changed."""
    return render(
        "comparison.html", compared=compared, before=before, after=after, headings=HEADINGS
    )


def summary(compared: pd.DataFrame) -> str:
    """The number of claims by kind of change, and a line for each changed claim, as on the page."""
    counts = compared["change"].value_counts()
    changes = [f"{counts[change]} {change}" for change in HEADINGS if change and change in counts]
    lines = [f"{len(compared)} claims: {', '.join(changes) or 'all alike'}."]
    for change in (FLIPPED, VERDICT, MOVED, CRITERION):
        claims = compared[compared["change"] == change].to_dict("records")
        lines += [f"  {claim['claim']}: {_change(claim)}" for claim in claims]
    return "\n".join(lines)


def _change(claim: Mapping[Hashable, Any]) -> str:
    """What changed in a claim: its verdict, its number, its criterion."""
    sides = [
        [SIGNS[claim[f"verdict_{side}"]] for side in SIDES],
        [_number(*(claim[f"{name}_{side}"] for name in NUMBER)) for side in SIDES],
        [claim[f"criterion_{side}"] for side in SIDES],
    ]
    return ", ".join(" → ".join(pair) for pair in sides if pair[0] != pair[1] and "" not in pair)


def _number(value: float, low: float, high: float) -> str:
    if not isfinite(value):
        return "no number"
    return f"{short(value)} [{short(low)}, {short(high)}]" if isfinite(low) else short(value)
