"""Realizations side by side: their mean and spread, and the small print about them."""

import pandas as pd

from flatlas.store.material import Material

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


def small_print(material: Material) -> str:
    """How many realizations there are, and how many never met their stopping rule, and why."""
    runs = material.tables["outcomes"].drop_duplicates(["run", "seed"])
    most = runs.groupby("run").size().max()
    text = f"{most} realization{'s' if most > 1 else ''} a run."
    failed = runs[~runs["converged"]]
    if len(failed):
        reasons = failed["reason"].value_counts().items()
        told = ", ".join(f"{reason}: {count}" for reason, count in reasons)
        text += (
            f" Of {len(runs)} trainings {len(failed)} met no stopping rule ({told});"
            " hollow or dashed: with such. Diverged ones are left out."
        )
    return text
