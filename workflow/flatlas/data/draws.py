"""The draws in a sample table: one for each seed, or a single one that serves every seed."""

import pandas as pd

from flatlas.errors import FlatlasError


def has_one_draw(table: pd.DataFrame) -> bool:
    """Whether one draw serves every realization (a subset with a fixed `split`)."""
    return table["seed"].nunique() == 1


def draw_of(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The rows of the realization `seed`, with its own seed."""
    if has_one_draw(table):
        return table.assign(seed=seed)
    draw = table[table["seed"] == seed]
    if draw.empty:
        there = ", ".join(str(value) for value in table["seed"].unique())
        raise FlatlasError(
            f"no samples were drawn for seed {seed}. Allowed: {there}. Draw them for all seeds."
        )
    return draw
