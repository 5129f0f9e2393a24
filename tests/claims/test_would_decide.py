"""What the scorecard says about a claim that its interval leaves open."""

from math import nan

import pytest

from flatlas.claims.claim import UNJUDGED, Claim, at_least, claims_table
from flatlas.statistics.estimate import Estimate
from flatlas.statistics.more_realizations import narrow_enough

OPEN = Estimate(0.5, -0.5, 1.5)


def note_of(number=OPEN, judged=True, **others):
    claim = Claim("c", "says", "quantity", at_least(0), number, **{"realizations": 3, **others})
    return claims_table("fig", [claim], judged).loc[0, "note"]


def test_an_open_claim_says_how_many_would_decide_it():
    assert note_of().split()[1] == str(narrow_enough(OPEN, [0], 3))
    assert "1,000" in note_of(Estimate(1e-4, -1, 1))
    assert note_of(note="Few.").startswith("Few. About")


@pytest.mark.parametrize(
    "others",
    [
        {"number": Estimate(1, 0.5, 1.5)},
        {"number": Estimate(-1, -1.5, -0.5)},
        {"number": Estimate(nan, nan, nan)},
        {"number": Estimate(-0.1, 0.5, 1.5)},
        {"half_width": None},
        {"complete": False},
        {"realizations": 1},
    ],
)
def test_more_realizations_are_suggested_only_where_they_help(others):
    """None for a decided claim, one without a number, failed searches, or directions of one net."""
    assert note_of(**others) == ""


def test_a_scale_that_is_not_judged_suggests_nothing():
    assert note_of(judged=False) == UNJUDGED
