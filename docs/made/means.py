"""Tables of the means that a figure draws, from its CSV, with intervals.

Only panels without a spectrum have one: a mean for each quantity and swept value.
"""

from collections.abc import Iterator

import pandas as pd

from flatlas.statistics.more_realizations import student

MEANS = "means.csv"
# What an interval and a count of solutions need, beside the swept keys.
NUMBERS = ["mean", "low", "high", "sd", "realizations", "converged"]
NEEDED = {"panel", "quantity", "n", *NUMBERS}
SYMBOLS = {
    **{"dual_gap": "ΔL", "gap_sharp": "ΔL_s", "gap_flat": "ΔL_f"},
    **{"S_w_curved": "S_w where H_n is above round-off", "n_sharp": "n_s"},
    **{"gap": "ΔL_n", "sigma_g": "σ_g,n", "sigma_w": "σ_w,n"},
    **{"mu_w_ratio": "mean |µ_w,n/σ_w,n|", "mu_g_ratio": "mean |µ_g,n/σ_g,n|"},
}


def means_of(points: pd.DataFrame) -> pd.DataFrame:
    """A row for each mean: its panel, key, value and quantity, and its interval by Student's t."""
    if not set(points) >= NEEDED:
        return pd.DataFrame(columns=["quantity", *NUMBERS])
    keys = points.columns[~points.columns.isin(NEEDED)]
    # Leave out panels over two keys: a table over one key would have several rows for a value.
    of_one_key = points[keys].notna().sum(axis=1) == 1
    single = points[(points.groupby("panel")["n"].transform("count") == 0) & of_one_key]
    parts = []
    for key in keys:
        rows = single.dropna(subset=[key]).rename(columns={key: "value"})
        parts.append(rows.assign(key=key)[["panel", "key", "value", "quantity", *NUMBERS]])
    found = pd.concat(parts, ignore_index=True)
    half = student(found["realizations"].to_numpy(float)) * found["sd"]
    return found.assign(low=found["mean"] - half, high=found["mean"] + half)


def tables(means: pd.DataFrame) -> Iterator[tuple[list[str], list[tuple[str, list[dict]]]]]:
    """For each panel the header, then for each value its means and how many are solutions."""
    for (_, key), rows in means.groupby(["panel", "key"], sort=False):
        quantities = list(rows["quantity"].unique())
        header = [f"`{key}`", *(SYMBOLS.get(name, name) for name in quantities), "solutions"]
        lines = []
        for value, at in rows.groupby("value"):
            by_name = at.set_index("quantity")
            numbers = [by_name.loc[name].to_dict() for name in quantities]
            solved = f"{numbers[0]['converged']:g} of {numbers[0]['realizations']:g}"
            lines.append((f"{value:g}", numbers, solved))
        yield header, lines
