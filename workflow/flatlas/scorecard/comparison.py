"""Two scorecards side by side: what moved beyond its interval, and which verdicts changed."""

import pandas as pd

from flatlas.scorecard.claims import NOT_RUN

NUMBER = ("value", "low", "high")
MOVED, VERDICT, ALIKE = "moved", "verdict changed", ""
SIDES = ("before", "after")
ONLY = {"left_only": "only before", "right_only": "only after"}


def compare(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """A row a claim of either, with the numbers and verdicts of both and what the `change` is.

    A number has moved where the two intervals have no point in common; one without an interval is
    one itself. Figures that were not run have nothing to compare.
    """
    kept = ["claim", "says", "verdict", *NUMBER]
    both = pd.merge(
        before.loc[before["verdict"] != NOT_RUN, kept],
        after.loc[after["verdict"] != NOT_RUN, kept],
        on="claim",
        how="outer",
        suffixes=("_before", "_after"),
        indicator=True,
        sort=False,
    )
    both.insert(1, "says", both["says_after"].fillna(both["says_before"]))
    both["change"] = ALIKE
    both.loc[both["verdict_before"] != both["verdict_after"], "change"] = VERDICT
    both.loc[_apart(both), "change"] = MOVED
    for side, told in ONLY.items():
        both.loc[both["_merge"] == side, "change"] = told
    return both.drop(columns=["says_before", "says_after", "_merge"])


def _apart(both: pd.DataFrame) -> pd.Series:
    """Whether the two intervals of a row leave a gap. Comparisons with NaN are false."""
    ends = {
        (end, side): both[f"{end}_{side}"].fillna(both[f"value_{side}"])
        for end in ("low", "high")
        for side in SIDES
    }
    gap = ends["high", "before"] < ends["low", "after"]
    return gap | (ends["high", "after"] < ends["low", "before"])
