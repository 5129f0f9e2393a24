"""The page of the user's trained networks."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from flatlas.report.rendering import render


@dataclass(frozen=True)
class MyModel:
    """What the page shows: the `numbers`, which `accuracy` and `measures` name and explain.

    `doubts` says why some networks are no solutions. `images` has the number of images of each
    part. `files` are beside the page.
    """

    shows: str
    nets: Sequence[str]
    doubts: Sequence[str]
    images: Mapping[str, int]
    numbers: pd.DataFrame
    accuracy: Mapping[str, Any]
    measures: Mapping[str, Any]
    picture: Path
    caption: str
    files: Sequence[str]


def my_model_page(model: MyModel) -> str:
    """The page: accuracy first, then the picture, then every measure and how to read it."""
    return render(
        "my_model.html",
        model=model,
        accuracy=_lines(model, model.accuracy),
        measures=_lines(model, model.measures),
    )


def _lines(
    model: MyModel, quantities: Mapping[str, Any]
) -> list[tuple[Any, list[dict[Hashable, Any]]]]:
    """Each quantity with its row for each network."""
    rows = dict(list(model.numbers.groupby("quantity")))
    return [
        (quantity, rows[name].to_dict("records"))
        for name, quantity in quantities.items()
        if name in rows
    ]
