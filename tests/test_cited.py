"""Numbers of claims are updated from the scorecards, with as many digits as before."""

from math import inf, nan

import cited
import pandas as pd
import pytest

UP, DOWN, TINY, LOST = "a_fig1.up", "a_fig1.down", "a_s2.tiny", "a_s2.b2"
CLAIMS = pd.DataFrame(
    [
        (UP, 0.3742, 0.301, 0.999, "reproduced"),
        (DOWN, -0.2811, -0.35, 0.004, "not reproduced"),
        (TINY, 2.449e-10, -inf, inf, "reproduced"),
        (LOST, nan, nan, nan, "undecided"),
    ],
    columns=["claim", "value", "low", "high", "verdict"],
).set_index("claim")


@pytest.mark.parametrize(
    ("before", "reference", "after"),
    [
        ("it is 0.1", "a_fig1.up ✓", "it is 0.4"),
        ("it is 9.000", "a_fig1.up ✓", "it is 0.374"),
        ("by 12 %", "a_fig1.up ✓", "by 37 %"),
        ("by\n1.5\n%", "a_fig1.up ✓", "by\n37.4\n%"),
        ("by 12", "100 · a_fig1.up ✓", "by 37"),
        ("1.00 [1.0, 2]", "a_fig1.up ✓", "0.37 [0.3, 1]"),
        ("1.00\n  [1.0,\n  2]", "a_fig1.up ✓", "0.37\n  [0.3,\n  1]"),
        ("1 % [1,\n2]", "a_fig1.up ✓", "37 % [30,\n100]"),
        ("it is 0.50", "a_fig1.down ✗", "it is −0.28"),
        ("falls by 1 % [2, 3]", "−1 · a_fig1.down ✗", "falls by 28 % [0, 35]"),
        ("to 1e-9", "a_s2.tiny ✓", "to 2e-10"),
        ("n = 3, 5.0", "a_s2.b2 ?", "n = 3, –"),
        ("log10 P, it falls", "a_fig1.down ✗", "log10 P, it falls"),
        ("figure fig3", "a_fig1.up ✓", "figure fig3"),
    ],
)
def test_a_number_is_replaced_in_the_form_in_which_it_was_written(before, reference, after):
    comment = f"<!-- {reference} -->"
    assert cited.updated(f"{before}{comment} or 7.", CLAIMS) == f"{after}{comment} or 7."


def test_sentences_written_for_another_verdict_are_listed():
    page = "0.4<!-- a_fig1.up ✓ -->, it falls<!-- a_fig1.down ✓ -->, 5<!-- a_s2.b2 ? -->"
    assert [line.split()[0] for line in cited.misjudged(page, CLAIMS)] == [DOWN]


@pytest.mark.parametrize("before", ["1.0 [0.5; 2.0]", "1.0%", "x1", "1.0 [0.5, 2.0] to 3 %]"])
def test_a_number_in_another_form_is_not_read_as_a_reference(before):
    assert not cited.REFERENCE.search(f"{before}<!-- a_fig1.up ✓ -->")


def test_an_unknown_claim_is_refused():
    with pytest.raises(SystemExit, match=r"a_fig1\.gone"):
        cited.updated("0.4<!-- a_fig1.gone ✓ -->", CLAIMS)
