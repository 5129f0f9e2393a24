"""A claim's verdict, from its criterion and the interval of its number."""

from math import inf, nan

import pytest

from flatlas.claims.claim import (
    COLUMNS,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    UNJUDGED,
    Claim,
    Criterion,
    above,
    at_least,
    at_most,
    below,
    between,
    claims_table,
    known,
)
from flatlas.errors import FlatlasError
from flatlas.statistics.estimate import UNKNOWN, Estimate


def claim(criterion, low, high, name="name", **others):
    number = Estimate((low + high) / 2, low, high)
    return Claim(name, "says", "quantity", criterion, number, **others)


@pytest.mark.parametrize(
    ("criterion", "low", "high", "verdict"),
    [
        (at_least(0.8), 0.8, 0.9, REPRODUCED),
        (at_least(0.8), 0.7, 0.8, UNDECIDED),
        (at_least(0.8), 0.7, 0.9, UNDECIDED),
        (at_least(0.8), 0.7, 0.79, NOT_REPRODUCED),
        (at_least(0.8), 0.8, 0.8, REPRODUCED),
        (at_most(0.25), 0.1, 0.25, REPRODUCED),
        (at_most(0.25), 0.25, 0.3, UNDECIDED),
        (at_most(0.25), 0.26, 0.3, NOT_REPRODUCED),
        (between(-0.1, 0.1), -0.1, 0.1, REPRODUCED),
        (between(-0.1, 0.1), -0.11, 0.1, UNDECIDED),
        (between(-0.1, 0.1), -0.2, 0.2, UNDECIDED),
        (between(-0.1, 0.1), 0.11, 0.2, NOT_REPRODUCED),
        (between(-0.1, 0.1), -0.2, -0.11, NOT_REPRODUCED),
        (between(-0.1, 0.1), 0.1, 0.2, UNDECIDED),
        # A strict end is excluded.
        (above(0), 0.0, 0.1, UNDECIDED),
        (above(0), 0.01, 0.1, REPRODUCED),
        (above(0), 0.0, 0.0, NOT_REPRODUCED),
        (above(0), -0.1, 0.0, NOT_REPRODUCED),
        (below(0), 0.0, 0.0, NOT_REPRODUCED),
        (below(0), -0.1, -0.01, REPRODUCED),
        (below(0), -0.1, 0.0, UNDECIDED),
        (at_least(0), -inf, inf, UNDECIDED),
    ],
)
def test_the_verdict_is_that_of_the_interval(criterion, low, high, verdict):
    assert claim(criterion, low, high).verdict == verdict


@pytest.mark.parametrize(
    ("number", "verdict"),
    [
        (Estimate(0.78, 0.81, 0.95), UNDECIDED),
        (Estimate(0.82, 0.7, 0.79), UNDECIDED),
        (Estimate(0.97, 0.81, 0.95), REPRODUCED),
        (Estimate(0.6, 0.7, 0.79), NOT_REPRODUCED),
        (Estimate(nan, 0.7, 0.79), UNDECIDED),
    ],
)
def test_a_value_outside_its_interval_counts_as_well(number, verdict):
    assert Claim("n", "s", "q", at_least(0.8), number).verdict == verdict


@pytest.mark.parametrize(
    "number", [Estimate(1.0, nan, nan), Estimate(1.0, nan, 1.0), Estimate(1.0, 1.0, nan), UNKNOWN]
)
def test_without_an_interval_nothing_is_decided(number):
    assert Claim("n", "s", "q", at_least(0), number).verdict == UNDECIDED


def test_where_part_is_missing_nothing_is_decided():
    assert claim(at_least(0), 1, 2).verdict == REPRODUCED
    assert claim(at_least(0), 1, 2, complete=False).verdict == UNDECIDED
    assert claim(at_least(0), -2, -1, complete=False).verdict == UNDECIDED


@pytest.mark.parametrize(
    ("criterion", "words"),
    [
        (at_least(0.8), "at least 0.8"),
        (at_most(-0.8), "at most -0.8"),
        (above(0), "above 0"),
        (below(0), "below 0"),
        (between(0.4, 0.6), "0.4 to 0.6"),
        (between(-1 / 3, 0.999), "-0.3333 to 0.999"),
        (Criterion(0, 0.25, strict=True), "above 0, below 0.25"),
    ],
)
def test_a_criterion_in_words(criterion, words):
    assert str(criterion) == words


def test_the_table_has_a_row_for_each_claim():
    claims = [
        claim(at_least(0), 1, 3, paper="2"),
        claim(at_most(0), 1, 3, "other", note="Half is lost."),
    ]
    table = claims_table("duality_fig3", claims, judged=True)
    assert list(table.columns) == list(COLUMNS)
    first, second = table.to_dict("records")
    assert first == {
        "claim": "duality_fig3.name",
        "says": "says",
        "whose": "paper",
        "quantity": "quantity",
        "criterion": "at least 0",
        "holds_from": 0,
        "holds_to": inf,
        "paper": "2",
        "value": 2,
        "low": 1,
        "high": 3,
        "verdict": REPRODUCED,
        "note": "",
    }
    assert (second["verdict"], second["note"]) == (NOT_REPRODUCED, "Half is lost.")


def test_data_that_are_not_the_papers_decide_nothing():
    claims = [claim(at_least(0), 1, 3), claim(at_most(0), 1, 3, "other", note="Half is lost.")]
    table = claims_table("duality_fig3", claims, judged=False)
    assert list(table["verdict"]) == [UNDECIDED, UNDECIDED]
    assert list(table["note"]) == [UNJUDGED, f"{UNJUDGED} Half is lost."]
    assert list(table["value"]) == [2, 2]


def test_a_table_of_an_older_run_is_refused():
    table = claims_table("duality_fig3", [claim(at_least(0), 1, 3)], judged=True)
    assert known(table, "fig3.claims.csv") is table
    with pytest.raises(FlatlasError, match=r"fig3\.claims\.csv lacks the columns whose.*older"):
        known(table.drop(columns="whose"), "fig3.claims.csv")
