"""Two scorecards side by side: what moved beyond its interval, and which verdicts changed."""

import pandas as pd

from flatlas.scorecard.claims import NOT_RUN

NUMBER = ("value", "low", "high")
MOVED, VERDICT, ALIKE = "moved", "verdict changed", ""
ONLY = {"left_only": "only in a", "right_only": "only in b"}


def compare(a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    """A row a claim of either, with the numbers and verdicts of both and what the `change` is.

    A number has moved where the two intervals have no point in common; one without an interval is
    one itself. Figures that were not run have nothing to compare.
    """
    kept = ["claim", "says", "verdict", *NUMBER]
    both = pd.merge(
        *(table.loc[table["verdict"] != NOT_RUN, kept] for table in (a, b)),
        on="claim",
        how="outer",
        suffixes=("_a", "_b"),
        indicator=True,
        sort=False,
    )
    both.insert(1, "says", both["says_b"].fillna(both["says_a"]))
    both["change"] = ALIKE
    both.loc[both["verdict_a"] != both["verdict_b"], "change"] = VERDICT
    both.loc[_apart(both), "change"] = MOVED
    for side, told in ONLY.items():
        both.loc[both["_merge"] == side, "change"] = told
    return both.drop(columns=["says_a", "says_b", "_merge"])


def _apart(both: pd.DataFrame) -> pd.Series:
    """Whether the two intervals of a row leave a gap. Comparisons with NaN are false."""
    ends = {
        (end, side): both[f"{end}_{side}"].fillna(both[f"value_{side}"])
        for end in ("low", "high")
        for side in "ab"
    }
    return (ends["high", "a"] < ends["low", "b"]) | (ends["high", "b"] < ends["low", "a"])
