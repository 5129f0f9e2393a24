"""Claims of the study `mystery`: what they are made of, and what makes them undecided."""

import pytest
from declared import RIGHT, WRONG
from judging import chosen, of_study
from mystery_worlds import world
from scipy import stats

from flatlas.claims.claim import UNDECIDED

pytestmark = pytest.mark.filterwarnings("error")
judge, judged, changed = of_study("mystery")


def test_a_coefficient_is_the_mean_of_those_of_each_realization():
    material = world(WRONG, "fig3")
    rows = material.tables["regret_summary"].groupby("seed")
    of_each = [stats.spearmanr(one["regret"], one["test_error"]).statistic for _, one in rows]
    claim = judged(WRONG, "fig3")["regret"]
    assert claim.estimate.value == pytest.approx(sum(of_each) / len(of_each), rel=1e-12)


def test_further_realizations_of_one_sweep_count_only_over_its_own_nets():
    def five_of_others(table):
        return (table["seed"] < 5) | (table["sweep"] == "adam")

    claims = judge("fig3", chosen(world(WRONG, "fig3", seeds=8), five_of_others))
    five = judged(WRONG, "fig3", seeds=5)
    differing = {name for name in claims if claims[name] != five[name]}
    assert differing and all(name.endswith("_adam") for name in differing)


def test_a_trend_over_balls_ends_where_a_search_did_not_converge():
    """In three of five realizations too few balls are left, so two realizations remain."""

    def broken(rows):
        second = sorted(rows["epsilon"].unique())[1]
        return (rows["seed"] > 2) | (rows["epsilon"] != second)

    claim = changed("fig2", "true_regret_summary", converged=broken)["approach"]
    assert claim.verdict == UNDECIDED
    assert "2 realizations" in claim.note


def test_the_change_is_the_largest_of_all_factors():
    """R grows as α^½ from 1/4 to 4, and so is twice as large at α = 4."""
    claims = judged(RIGHT, "fig4")
    assert claims["regret"].estimate.value == pytest.approx(1.0, abs=0.05)
    assert claims["sharpness_contrast"].estimate.value == pytest.approx(0.004)


def test_a_contrast_with_the_wrong_sign_says_less_than_flatness():
    """The contrast falls with the error: its coefficient is -1, that of flatness 0.03."""
    fallen = changed("fig3", "contrast_summary", contrast=lambda rows: -rows["contrast"])
    before = judged(RIGHT, "fig3")["sharpness_better"].estimate.value
    after = fallen["sharpness_better"].estimate.value
    assert after == pytest.approx(before - 2)
