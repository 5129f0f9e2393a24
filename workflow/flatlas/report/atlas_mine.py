"""The page of the user's networks among those of the atlas: a picture and a table."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from flatlas.report.rendering import render

TESTED = "share of wrong test images"
# An error below this share of the value is below the digits that are shown.
SHOWN = 1e-3


@dataclass(frozen=True)
class AtlasMine:
    """The content of the page: `rows` of values and percentiles, and the `labels` of measures.

    `images` says how many images the atlas has, and `doubts` says why some networks are no
    solutions.
    """

    shows: str
    images: str
    rows: pd.DataFrame
    doubts: Sequence[str]
    labels: Mapping[str, str]
    picture: Path
    caption: str


def atlas_mine_page(page: AtlasMine) -> str:
    """The page: the picture, the table of measures that were compared, the list of the others."""
    compared = page.rows["why"] == ""
    return render(
        "atlas_mine.html",
        page=page,
        nets=page.rows["net"].unique(),
        compared=_lines(page.rows[compared], page.labels),
        listed=_others(page.rows[~compared], page.labels),
    )


def _lines(rows: pd.DataFrame, labels: Mapping[str, str]) -> list[dict[str, object]]:
    """A line for each measure, with the row of each network that has it."""
    return [
        {
            "name": name,
            "words": labels.get(str(name), TESTED),
            "networks": some["networks"].max(),
            "by_net": some.assign(
                error=some["error"].where(some["error"] > SHOWN * some["value"].abs()),
                position=some["percentile"].map(_position),
            )
            .set_index("net")
            .to_dict("index"),
        }
        for name, some in rows.groupby("measure", sort=False)
    ]


def _position(percentile: float) -> str:
    """A percentile in words: 0.3 is 'below 1 %', not 0 %."""
    if percentile <= 0:
        return "below the atlas"
    if percentile >= 100:
        return "above the atlas"
    rounded = round(percentile)
    return {0: "below 1 %", 100: "above 99 %"}.get(rounded, f"{rounded} %")


def _others(rows: pd.DataFrame, labels: Mapping[str, str]) -> list[dict[Hashable, object]]:
    """The measures that were not compared, with their values and reasons."""
    words = rows["measure"].map(labels).fillna(TESTED)
    return rows.assign(words=words).to_dict("records")
