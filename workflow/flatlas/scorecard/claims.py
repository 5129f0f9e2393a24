"""A claim of a paper, the number that judges it, and the verdict."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isfinite

import pandas as pd

from flatlas.statistics.estimate import Estimate

REPRODUCED, NOT_REPRODUCED, UNDECIDED = "reproduced", "not reproduced", "undecided"
COLUMNS = ("claim", "says", "quantity", "criterion", "paper", "value", "low", "high", "verdict")


@dataclass(frozen=True)
class Criterion:
    """Where the number must lie for the claim to hold: between these, ends included."""

    low: float = -inf
    high: float = inf

    def __str__(self) -> str:
        """As a reader says it."""
        if isfinite(self.low) and isfinite(self.high):
            return f"{self.low:g} to {self.high:g}"
        return f"at least {self.low:g}" if isfinite(self.low) else f"at most {self.high:g}"


@dataclass(frozen=True)
class Claim:
    """`says` is the paper's sentence in our words, `quantity` what our number is.

    `paper` is the paper's own number, where it gives one.
    """

    name: str
    says: str
    quantity: str
    criterion: Criterion
    estimate: Estimate
    paper: str = ""

    @property
    def verdict(self) -> str:
        """Undecided where the interval straddles an end of the criterion, or where there is none."""
        low, high = self.estimate.low, self.estimate.high
        if low >= self.criterion.low and high <= self.criterion.high:
            return REPRODUCED
        if high < self.criterion.low or low > self.criterion.high:
            return NOT_REPRODUCED
        return UNDECIDED


def at_least(low: float) -> Criterion:
    """The number is this, or more."""
    return Criterion(low=low)


def at_most(high: float) -> Criterion:
    """The number is this, or less."""
    return Criterion(high=high)


def between(low: float, high: float) -> Criterion:
    """The number lies between these."""
    return Criterion(low, high)


def claims_table(target: str, claims: Iterable[Claim], judged: bool) -> pd.DataFrame:
    """A row a claim, named `<target>.<claim>`.

    Where the scale is not `judged`, its data are not the paper's and decide nothing.
    """
    rows = [
        (
            f"{target}.{claim.name}",
            claim.says,
            claim.quantity,
            str(claim.criterion),
            claim.paper,
            claim.estimate.value,
            claim.estimate.low,
            claim.estimate.high,
            claim.verdict if judged else UNDECIDED,
        )
        for claim in claims
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))
