"""Two scorecards compared: a number moved if its two intervals do not overlap."""

from math import nan

import pandas as pd
import pytest

from flatlas.claims.claim import Claim, at_least, claims_table, not_run, ours
from flatlas.claims.comparison import compare
from flatlas.report.comparison import comparison_page, summary
from flatlas.statistics.estimate import Estimate


def scorecard(**numbers):
    claims = [
        Claim(name, f"<{name}> rises", "change", at_least(0), Estimate(*number))
        for name, number in numbers.items()
    ]
    return claims_table("flat_fig1", claims, judged=True)


def changes(a, b):
    compared = compare(a, b).set_index("claim")["change"]
    return {name.removeprefix("flat_fig1."): change for name, change in compared.items()}


@pytest.mark.parametrize(
    ("a", "b", "change"),
    [
        ((1.0, 0.5, 1.5), (2.0, 1.6, 2.5), "moved"),
        ((2.0, 1.6, 2.5), (1.0, 0.5, 1.5), "moved"),
        ((1.0, 0.5, 1.5), (2.0, 1.5, 2.5), ""),
        ((1.0, 0.5, 1.5), (1.2, -0.1, 1.5), "verdict changed"),
        ((1.0, 0.5, 1.5), (-1.0, -1.5, -0.5), "moved"),
        ((1.0, nan, nan), (1.0, nan, nan), ""),
        ((1.0, nan, nan), (1.1, nan, nan), "moved"),
        ((1.0, 0.5, 1.5), (nan, nan, nan), "verdict changed"),
    ],
)
def test_the_change_of_a_number(a, b, change):
    assert changes(scorecard(one=a), scorecard(one=b)) == {"one": change}


def test_a_changed_criterion_is_shown_beside_the_old_one():
    number = Estimate(0.8, 0.7, 0.9)
    before, after = (
        claims_table("flat_fig1", [Claim("one", "it rises", "change", one, number)], judged=True)
        for one in (at_least(0.5), at_least(0.99))
    )
    compared = compare(before, after)
    assert list(compared["change"]) == ["criterion changed"]
    assert summary(compared).splitlines() == [
        "1 claims: 1 criterion changed.",
        "  flat_fig1.one: reproduced → not reproduced",
    ]
    html = comparison_page(compared, "a", "b")
    assert "Judged by another criterion (1)" in html
    assert "at least 0.5" in html and "at least 0.99" in html
    moved = before.assign(value=0.1, low=0.0, high=0.2)
    assert list(compare(moved, after)["change"]) == ["moved"]
    # An older scorecard has no criterion.
    assert list(compare(before.drop(columns="criterion"), before)["change"]) == [""]


def test_claims_of_one_side_only_are_marked_and_figures_not_run_are_left_out():
    number = (1.0, 0.5, 1.5)
    before = pd.concat([scorecard(one=number, two=number), not_run("flat_fig2", "Two")])
    found = changes(before, scorecard(two=number, three=number))
    assert found == {"one": "only before", "two": "", "three": "only after"}


def test_the_page_and_the_summary_show_what_moved():
    compared = compare(
        scorecard(one=(1.0, 0.5, 1.5), two=(1.0, 0.5, 1.5), old=(1.0, 0.5, 1.5)),
        scorecard(one=(-2.0, -2.5, -1.6), two=(1.1, 0.5, 1.5)),
    )
    html = comparison_page(compared, "results/<a>", "results/b")
    for part in ("Moved beyond their intervals (1)", "Only before (1)", "Alike (1)", "&lt;one&gt;"):
        assert part in html
    assert "<a>" not in html
    assert "nan" not in html
    assert html.index("flat_fig1.one") < html.index("flat_fig1.two")
    lines = summary(compared).splitlines()
    assert lines[0] == "3 claims: 1 moved, 1 only before."
    assert lines[1] == "  flat_fig1.one: 1 [0.5, 1.5] → -2 [-2.5, -1.6]"
    assert summary(compare(scorecard(two=(1, 0, 2)), scorecard(two=(1, 0, 2)))) == (
        "1 claims: all alike."
    )


def test_a_question_of_ours_is_marked_also_where_an_older_scorecard_does_not_say_so():
    number = Estimate(1.0, 0.5, 1.5)
    asked = ours([Claim("one", "it rises", "change", at_least(0), number)])
    today = claims_table("flat_fig1", asked, judged=True)
    older = today.drop(columns="whose")
    for before, after, marks in ((older, today, 1), (today, older, 1), (older, older, 0)):
        compared = compare(before, after)
        assert comparison_page(compared, "a", "b").count("our question") == marks
        assert list(compared["change"]) == [""]
