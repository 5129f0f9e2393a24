"""The page of the user's trained networks, with their place among those of the atlas."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log10
from pathlib import Path
from typing import Any

import pandas as pd

from flatlas.report.rendering import render

Row = Mapping[Hashable, Any]


@dataclass(frozen=True)
class MyModel:
    """What the page shows: the `numbers`, which `accuracy` and `measures` name and explain.

    `doubts` says why some networks are no solutions. `images` has the number of images of each
    part. `ranges` has the published ranges, by measure. `files` are beside the page.
    """

    shows: str
    nets: Sequence[str]
    doubts: Sequence[str]
    images: Mapping[str, int]
    numbers: pd.DataFrame
    accuracy: Mapping[str, Any]
    measures: Mapping[str, Any]
    ranges: pd.DataFrame
    picture: Path
    caption: str
    files: Sequence[str]


@dataclass(frozen=True)
class Line:
    """A quantity of all networks, and its range in the atlas if that is published."""

    quantity: Any
    values: Sequence[Row]
    range: Row | None

    def position(self, value: float) -> str:
        """Where a value lies in the range."""
        if self.range is None or not isfinite(value):
            return ""
        if value < self.range["least"]:
            return "below the atlas"
        return "above the atlas" if value > self.range["largest"] else "within the atlas"

    def strip(self, value: float, error: float) -> Row | None:
        """The value, its error and the range as on a scorecard, in decades if all are positive."""
        if self.range is None or not isfinite(value):
            return None
        error = error if isfinite(error) else 0.0
        shown: dict[Hashable, float] = {
            "value": value,
            "low": value - error,
            "high": value + error,
            "holds_from": self.range["least"],
            "holds_to": self.range["largest"],
        }
        positive = min(shown.values()) > 0
        return {end: log10(at) for end, at in shown.items()} if positive else shown


def my_model_page(model: MyModel) -> str:
    """The page: accuracy first, then the picture, then every measure and how to read it."""
    return render(
        "my_model.html",
        model=model,
        accuracy=_lines(model, model.accuracy),
        measures=_lines(model, model.measures),
    )


def _lines(model: MyModel, quantities: Mapping[str, Any]) -> list[Line]:
    rows = dict(list(model.numbers.groupby("quantity")))
    return [
        Line(
            quantity,
            rows[name].to_dict("records"),
            model.ranges.loc[name].to_dict() if name in model.ranges.index else None,
        )
        for name, quantity in quantities.items()
        if name in rows
    ]
