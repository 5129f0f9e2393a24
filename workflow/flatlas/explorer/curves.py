"""Learning curves of a few points each, so that one page can hold those of hundreds of networks."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from flatlas.store.tables import read_table

SHOWN = ["train_loss", "test_loss", "train_error", "test_error"]
# Points of each network: dense at the beginning, where it learns most.
POINTS = 24
DIGITS = 3


def learning_curves(histories: Iterable[Path]) -> pd.DataFrame:
    """A row for each run, its folder under results, its seeds and some of its epochs."""
    tables = [_thinned(file) for file in sorted(set(histories))]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _thinned(file: Path) -> pd.DataFrame:
    history = read_table(file).sort_values(["seed", "epoch"])
    kept = history.groupby("seed", group_keys=False)[[*history.columns]].apply(_some)
    rounded = kept[SHOWN].map(lambda value: float(f"{value:.{DIGITS}g}"))
    run, folder = file.parent.name, file.parent.parent.name
    return pd.concat([kept[["seed", "epoch"]].assign(run=run, folder=folder), rounded], axis=1)


def _some(rows: pd.DataFrame) -> pd.DataFrame:
    places = np.geomspace(1, len(rows), min(POINTS, len(rows))).round().astype(int) - 1
    return rows.iloc[np.unique(places)]
