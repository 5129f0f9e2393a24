"""How claims came out, counted."""

from dataclasses import dataclass

import pandas as pd

from flatlas.claims.claim import FLATLAS, NOT_REPRODUCED, NOT_RUN, REPRODUCED, UNDECIDED

SIGNS = {REPRODUCED: "✓", NOT_REPRODUCED: "✗", UNDECIDED: "?", NOT_RUN: "–"}
# Verdicts on our questions in words.
ANSWERS = {REPRODUCED: "yes", NOT_REPRODUCED: "no"}
Counts = dict[str, int]


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on the papers' claims and on our questions; how many figures are not drawn."""

    papers: Counts
    ours: Counts
    missing: int

    @property
    def claimed(self) -> int:
        """How many claims of papers were judged."""
        return sum(self.papers.values())

    @property
    def questions(self) -> int:
        """How many questions of ours were judged."""
        return sum(self.ours.values())


def in_words(verdict: str, whose: str) -> str:
    """The name of a verdict on a paper's claim; for our questions, its answer."""
    return ANSWERS.get(verdict, verdict) if whose == FLATLAS else verdict


def count_verdicts(claims: pd.DataFrame) -> Verdicts:
    """The verdicts in a table of claims."""
    own, verdicts = claims["whose"] == FLATLAS, claims["verdict"]
    return Verdicts(_count(verdicts[~own]), _count(verdicts[own]), int((verdicts == NOT_RUN).sum()))


def _count(verdicts: pd.Series) -> Counts:
    return {name: int((verdicts == name).sum()) for name in SIGNS if name != NOT_RUN}
