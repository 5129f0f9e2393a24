"""The draws in a sample table: one for each seed, or one for all seeds."""

import pandas as pd

from flatlas.errors import FlatlasError


def has_one_draw(table: pd.DataFrame) -> bool:
    """Whether all realizations share one draw (a subset with a fixed `split`)."""
    return table["seed"].nunique() == 1


def draw_of(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The rows of the realization `seed`, with its own seed."""
    if has_one_draw(table):
        return table.assign(seed=seed)
    draw = table[table["seed"] == seed]
    if draw.empty:
        allowed = ", ".join(map(str, table["seed"].unique()))
        raise FlatlasError(
            f"there are no samples for seed {seed}. Allowed: {allowed}. Draw samples for all seeds."
        )
    return draw
