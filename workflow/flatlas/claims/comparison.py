"""Compare two scorecards: which verdicts changed, which numbers moved beyond their intervals."""

import pandas as pd

from flatlas.claims.claim import NOT_RUN, UNDECIDED

NUMBER = ("value", "low", "high")
# The columns that describe a claim, not its result.
DESCRIPTION = ("says", "whose")
# The changes, the most important first; a claim gets the first that applies. `FLIPPED`: from
# reproduced to not reproduced, or back.
FLIPPED, VERDICT, MOVED, CRITERION = "flipped", "verdict changed", "moved", "criterion changed"
ALIKE = ""
SIDES = ("before", "after")
ONLY = {"left_only": "only before", "right_only": "only after"}


def compare(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """One row for each claim of either, with both numbers, criteria and verdicts, and the `change`.

    A number has moved if the two intervals do not overlap; without an interval the value itself
    counts as one. Figures that were not run are left out.
    """
    both = pd.merge(
        _drawn(before),
        _drawn(after),
        on="claim",
        how="outer",
        suffixes=("_before", "_after"),
        indicator=True,
        sort=False,
    )
    for at, name in enumerate(DESCRIPTION, start=1):
        both.insert(at, name, both.pop(f"{name}_after").fillna(both.pop(f"{name}_before")))
    verdicts = both[["verdict_before", "verdict_after"]]
    other = verdicts["verdict_before"] != verdicts["verdict_after"]
    known = both[["criterion_before", "criterion_after"]].notna().all(axis=1)
    both["change"] = ALIKE
    both.loc[known & (both["criterion_before"] != both["criterion_after"]), "change"] = CRITERION
    both.loc[_apart(both), "change"] = MOVED
    both.loc[other, "change"] = VERDICT
    both.loc[other & (verdicts != UNDECIDED).all(axis=1), "change"] = FLIPPED
    for side, only in ONLY.items():
        both.loc[both["_merge"] == side, "change"] = only
    return both.drop(columns="_merge")


def _drawn(scorecard: pd.DataFrame) -> pd.DataFrame:
    """The compared columns of drawn figures; older scorecards lack the column `whose`."""
    drawn = scorecard[scorecard["verdict"] != NOT_RUN]
    columns = drawn.reindex(columns=["claim", *DESCRIPTION, "criterion", "verdict", *NUMBER])
    return columns.astype(dict.fromkeys(DESCRIPTION, "str"))


def _apart(both: pd.DataFrame) -> pd.Series:
    """Whether the intervals of a row are apart; without an interval, the value is its ends."""
    ends = {
        (end, side): both[f"{end}_{side}"].fillna(both[f"value_{side}"])
        for end in ("low", "high")
        for side in SIDES
    }
    gap = ends["high", "before"] < ends["low", "after"]
    return gap | (ends["high", "after"] < ends["low", "before"])
