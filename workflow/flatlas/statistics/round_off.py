"""The limit below which a value is round-off, for figures and claims alike."""

import pandas as pd

# Below this fraction of a net's largest, an eigenvalue or a deviation is round-off of zero.
ROUND_OFF = 1e-12


def above_round_off(rows: pd.DataFrame, column: str, keys: list[str]) -> pd.DataFrame:
    """The rows with more than round-off in a column, relative to the largest of the same keys."""
    largest = rows.groupby(keys)[column].transform("max")
    return rows[rows[column] > ROUND_OFF * largest]
