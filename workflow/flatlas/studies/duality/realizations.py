"""Realizations side by side: their mean and spread."""

import pandas as pd

LEGEND = "Lines and dots: means; bands and bars: one s.d. "


def over_seeds(table: pd.DataFrame, keys: list[str], columns: list[str]) -> pd.DataFrame:
    """Mean, standard deviation and band over realizations, and how many of them converged."""
    long = table.melt([*keys, "converged"], columns, var_name="quantity")
    grouped = long.groupby([*keys, "quantity"], sort=True)
    means = grouped["value"].agg(mean="mean", sd="std", realizations="size")
    over = means.assign(converged=grouped["converged"].sum()).reset_index()
    over["low"], over["high"] = over["mean"] - over["sd"], over["mean"] + over["sd"]
    return over


def above_zero(over: pd.DataFrame) -> pd.DataFrame:
    """Bands that end at a tenth of the mean: a logarithmic axis could not show what is below."""
    return over.assign(low=over["low"].clip(lower=over["mean"] / 10))


def all_converged(points: pd.DataFrame) -> bool:
    """Whether each training behind the points met its stopping rule."""
    return bool((points["converged"] == points["realizations"]).all())
