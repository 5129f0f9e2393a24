"""A claim of a paper, or our own question: its number, its criterion and its verdict."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan

import pandas as pd

from flatlas.errors import FlatlasError
from flatlas.statistics.estimate import Estimate
from flatlas.statistics.more_realizations import MOST, HalfWidth, narrow_enough, resampled

REPRODUCED, NOT_REPRODUCED, UNDECIDED = "reproduced", "not reproduced", "undecided"
# The verdict on a figure that has not been drawn.
NOT_RUN = "not run"
# Whose claim it is.
PAPER, FLATLAS = "paper", "flatlas"
# The plan declares the same columns with their meanings, which no fingerprint includes; a test
# compares both.
COLUMNS = (
    *("claim", "says", "whose", "quantity", "criterion", "holds_from", "holds_to", "paper"),
    *("value", "low", "high", "verdict", "note"),
)
UNJUDGED = "Not judged at this scale."


@dataclass(frozen=True)
class Criterion:
    """The interval in which a claim's number must lie; `strict` excludes its ends."""

    low: float = -inf
    high: float = inf
    strict: bool = False

    def holds(self, value: float) -> bool:
        """Whether a number meets the criterion."""
        if self.strict:
            return self.low < value < self.high
        return self.low <= value <= self.high

    def __str__(self) -> str:
        """The criterion in words."""
        if isfinite(self.low) and isfinite(self.high) and not self.strict:
            return f"{self.low:.4g} to {self.high:.4g}"
        ends = {
            "above" if self.strict else "at least": self.low,
            "below" if self.strict else "at most": self.high,
        }
        return ", ".join(f"{word} {end:.4g}" for word, end in ends.items() if isfinite(end))


@dataclass(frozen=True)
class Claim:
    """`says` is the paper's sentence in our words; `quantity` says what our number is.

    `paper` is the paper's number, if it gives one. A claim is not `complete` if some of its nets
    have no solutions; `note` says what is missing. A claim that is `ours` is not in the text and is
    counted separately. `realizations` is the number of realizations behind the interval;
    `half_width` says how its half-width falls with that number. Nothing is predicted without it, or
    from one realization.
    """

    name: str
    says: str
    quantity: str
    criterion: Criterion
    estimate: Estimate
    paper: str = ""
    note: str = ""
    complete: bool = True
    ours: bool = False
    realizations: int = 0
    half_width: HalfWidth | None = resampled

    @property
    def verdict(self) -> str:
        """The verdict: undecided without an interval, or if it contains an end of the criterion.

        The interval of a skewed statistic may leave out its value, which must lie on the same side.
        """
        number = self.estimate
        if not self.complete or not number.low <= number.high or isnan(number.value):
            return UNDECIDED
        found = (number.low, number.value, number.high)
        holds = [self.criterion.holds(one) for one in found]
        if all(holds):
            return REPRODUCED
        outside = max(found) <= self.criterion.low or min(found) >= self.criterion.high
        return NOT_REPRODUCED if outside and not any(holds) else UNDECIDED

    @property
    def would_decide(self) -> str:
        """How many realizations would decide the claim; '' unless only its interval is too wide."""
        found, ends = self.estimate, (self.criterion.low, self.criterion.high)
        contains = found.low <= found.value <= found.high
        left_open = self.verdict == UNDECIDED and self.complete and contains
        if not left_open or self.realizations < 2 or self.half_width is None:
            return ""
        count = narrow_enough(found, ends, self.realizations, self.half_width)
        if count is None:
            return f"More than {MOST:,} realizations would be needed: it is too close to the bound."
        return f"About {count} realizations would decide it, if the number stays as it is."


# The claims of a figure, one by one.
Claims = Iterator[Claim]


def at_least(low: float) -> Criterion:
    """The criterion that a number is at least `low`."""
    return Criterion(low=low)


def at_most(high: float) -> Criterion:
    """The criterion that a number is at most `high`."""
    return Criterion(high=high)


def above(low: float) -> Criterion:
    """The criterion that a number is above `low`."""
    return Criterion(low=low, strict=True)


def below(high: float) -> Criterion:
    """The criterion that a number is below `high`."""
    return Criterion(high=high, strict=True)


def between(low: float, high: float) -> Criterion:
    """The criterion that a number lies from `low` to `high`."""
    return Criterion(low, high)


def ours(claims: Iterable[Claim]) -> list[Claim]:
    """The same claims, marked as questions of ours, which no paper states."""
    return [replace(claim, ours=True) for claim in claims]


def claims_table(target: str, claims: Iterable[Claim], judged: bool) -> pd.DataFrame:
    """One row for each claim, named `<target>.<claim>`.

    If the scale is not `judged`, its data are not the paper's, and all claims stay undecided.
    """
    rows = [
        (
            f"{target}.{claim.name}",
            claim.says,
            FLATLAS if claim.ours else PAPER,
            claim.quantity,
            str(claim.criterion),
            claim.criterion.low,
            claim.criterion.high,
            claim.paper,
            claim.estimate.value,
            claim.estimate.low,
            claim.estimate.high,
            claim.verdict if judged else UNDECIDED,
            " ".join(filter(None, _notes(claim, judged))),
        )
        for claim in _checked(target, claims)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _checked(target: str, claims: Iterable[Claim]) -> list[Claim]:
    """The claims of a figure; an error if they are something else, or two have one name."""
    if not isinstance(claims, Iterable):
        raise FlatlasError(
            f"claims(material) for {target} returns a {type(claims).__name__}. "
            "Allowed: a list of claims."
        )
    claims = list(claims)
    for claim in claims:
        if not isinstance(claim, Claim):
            raise FlatlasError(
                f"claims(material) for {target} returns a list with a {type(claim).__name__}. "
                "Allowed: a list of claims."
            )
    for name, count in Counter(claim.name for claim in claims).items():
        if count > 1:
            raise FlatlasError(
                f"claims(material) for {target} returns {count} claims named '{name}': "
                "give each its own name."
            )
    return claims


def _notes(claim: Claim, judged: bool) -> list[str]:
    return [claim.note, claim.would_decide] if judged else [UNJUDGED, claim.note]


def known(table: pd.DataFrame, file: str) -> pd.DataFrame:
    """The same table; an error if the file that it was read from lacks a column."""
    missing = [name for name in COLUMNS if name not in table]
    if missing:
        raise FlatlasError(
            f"{file} lacks the columns {', '.join(missing)}: an older flatlas wrote it. Delete it "
            "and draw its figure again, with `snakemake` and the figure's name."
        )
    return table


def not_run(target: str, title: str) -> pd.DataFrame:
    """A single row in place of the claims, for a figure that has not been drawn."""
    row = {"claim": target, "says": title, "verdict": NOT_RUN, "note": "The figure is not drawn."}
    return pd.DataFrame([row], columns=list(COLUMNS))
