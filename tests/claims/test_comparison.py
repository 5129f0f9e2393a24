"""Two scorecards compared: a number moved if its two intervals do not overlap."""

from math import nan

import pandas as pd
import pytest

from flatlas.claims.claim import Claim, at_least, claims_table, not_run, ours
from flatlas.claims.comparison import compare
from flatlas.errors import FlatlasError
from flatlas.report.comparison import comparison_page, read_scorecard, summary
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
        ((1.0, 0.5, 1.5), (-1.0, -1.5, -0.5), "flipped"),
        ((-1.0, -1.5, -0.5), (1.0, 0.5, 1.5), "flipped"),
        ((-1.0, -1.5, -0.5), (2.0, -0.1, 3.0), "verdict changed"),
        ((1.0, nan, nan), (1.0, nan, nan), ""),
        ((1.0, nan, nan), (1.1, nan, nan), "moved"),
        ((1.0, 0.5, 1.5), (nan, nan, nan), "verdict changed"),
    ],
)
def test_the_change_of_a_number(a, b, change):
    assert changes(scorecard(one=a), scorecard(one=b)) == {"one": change}


def test_a_changed_criterion_is_shown_beside_the_old_one():
    number = Estimate(0.8, 0.7, 0.9)
    before, alike, flipped = (
        claims_table("flat_fig1", [Claim("one", "it rises", "change", one, number)], judged=True)
        for one in (at_least(0.5), at_least(0.6), at_least(0.99))
    )
    for after, change in ((alike, "criterion changed"), (flipped, "flipped")):
        compared = compare(before, after)
        assert list(compared["change"]) == [change]
        criterion = after["criterion"].item()
        assert summary(compared).endswith(f"at least 0.5 → {criterion}")
        html = comparison_page(compared, "a", "b")
        assert "at least 0.5" in html and criterion in html
    moved = before.assign(value=0.1, low=0.0, high=0.2)
    assert list(compare(moved, flipped.assign(verdict="reproduced"))["change"]) == ["moved"]
    # An older scorecard has no criterion.
    assert list(compare(before.drop(columns="criterion"), before)["change"]) == [""]


def test_claims_of_one_side_only_are_marked_and_figures_not_run_are_left_out():
    number = (1.0, 0.5, 1.5)
    before = pd.concat([scorecard(one=number, two=number), not_run("flat_fig2", "Two")])
    found = changes(before, scorecard(two=number, three=number))
    assert found == {"one": "only before", "two": "", "three": "only after"}


def test_verdicts_that_changed_come_first_on_the_page_and_in_the_summary():
    number = (1.0, 0.5, 1.5)
    compared = compare(
        scorecard(alike=number, moved=number, unsure=number, lost=number, old=number),
        scorecard(
            alike=(1.1, 0.5, 1.5),
            moved=(3.0, 2.0, 4.0),
            unsure=(nan, nan, nan),
            lost=(-2.0, -2.5, -1.6),
        ),
    )
    assert summary(compared).splitlines() == [
        "5 claims: 1 flipped, 1 verdict changed, 1 moved, 1 only before.",
        "  flat_fig1.lost: ✓ → ✗, 1 [0.5, 1.5] → −2 [−2.5, −1.6]",
        "  flat_fig1.unsure: ✓ → ?, 1 [0.5, 1.5] → no number",
        "  flat_fig1.moved: 1 [0.5, 1.5] → 3 [2, 4]",
    ]
    html = comparison_page(compared, "results/<a>", "results/b")
    names = [f"flat_fig1.{name}" for name in ("lost", "unsure", "moved", "old", "alike")]
    assert sorted(names, key=html.index) == names
    assert "results/&lt;a&gt;" in html and "&lt;lost&gt;" in html
    assert "<a>" not in html
    assert "nan" not in html
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


def test_a_damaged_scorecard_is_made_again_and_a_copied_one_copied_again(tmp_path, provenance):
    preset = tmp_path / "results" / "laptop"
    made, copy = (
        folder / "scorecard.csv" for folder in (preset / "duality", tmp_path / "results" / "before")
    )
    for file in (made, copy):
        file.parent.mkdir(parents=True)
        file.write_text("claim\n")
        provenance(file.with_suffix(".json"), files=[file])
        file.write_text("claim,verdict\n")
    with pytest.raises(FlatlasError, match=f"Delete {preset}/duality/scorecard.*snakemake makes"):
        read_scorecard(made, [preset])
    with pytest.raises(FlatlasError) as raised:
        read_scorecard(copy, [preset])
    assert str(copy) in str(raised.value)
    assert f"delete {copy.with_suffix('.json')}" in str(raised.value)
    assert "snakemake" not in str(raised.value)
    copy.with_suffix(".json").unlink()
    with pytest.raises(FlatlasError, match="no column value, low, high"):
        read_scorecard(copy, [preset])
    copy.write_bytes(b"\xff\xfe")
    with pytest.raises(FlatlasError, match="Copy it again") as raised:
        read_scorecard(copy, [preset])
    assert "delete" not in str(raised.value).lower()
    with pytest.raises(FlatlasError, match=r"there is no .*none/scorecard\.csv"):
        read_scorecard(tmp_path / "none" / "scorecard.csv", [preset])


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ("b,maybe,1,0,2", "verdict of b"),
        ("b,,,,", "verdict of b"),
        ("a,undecided,1,0,2", "a appears twice"),
        ("b,undecided,about 1,0,2", "value"),
    ],
)
def test_a_copied_scorecard_that_was_edited_is_refused_by_what_is_wrong(tmp_path, row, wrong):
    file = tmp_path / "scorecard.csv"
    file.write_text(f"claim,verdict,value,low,high\na,undecided,1,0,2\nc,not run,,,\n{row}\n")
    with pytest.raises(FlatlasError, match=wrong):
        read_scorecard(file, [])


def test_a_copied_scorecard_may_have_no_claims(tmp_path):
    file = tmp_path / "scorecard.csv"
    file.write_text("claim,verdict,value,low,high\n")
    assert read_scorecard(file, []).empty
