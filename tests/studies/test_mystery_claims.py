"""Claims of the study `mystery`: what they are made of, and what makes them undecided."""

from functools import cache

import pytest
from judging import judged_figure
from mystery_worlds import RIGHT, WRONG, world
from scipy import stats

from flatlas.claims.claim import UNDECIDED
from flatlas.evidence.material import Material

pytestmark = pytest.mark.filterwarnings("error")


@cache
def judged(right, figure):
    return judged_figure("mystery", figure, world(right, figure))


def judged_with(figure, table, changed):
    """The claims where the post is right, with one table changed."""
    tables = world(RIGHT, figure).tables
    return judged_figure("mystery", figure, Material({**tables, table: changed(tables[table])}))


def test_searches_that_did_not_converge_decide_nothing():
    claims = judged_with("fig3", "regret_kl_ball", lambda ball: ball.assign(converged=False))
    lost = {name for name, claim in claims.items() if claim.verdict == UNDECIDED}
    assert lost == {name for name in claims if name.startswith(("kl_", "damped_"))}


def test_a_coefficient_is_the_mean_of_those_of_each_realization():
    material = world(WRONG, "fig3")
    rows = material.tables["regret_summary"].groupby("seed")
    of_each = [stats.spearmanr(one["regret"], one["test_error"]).statistic for _, one in rows]
    claim = judged(WRONG, "fig3")["regret"]
    assert claim.estimate.value == pytest.approx(sum(of_each) / len(of_each), rel=1e-12)


def test_a_trend_over_balls_ends_where_a_search_did_not_converge():
    """In three of five realizations too few balls are left, so two realizations remain."""

    def broken(rows):
        second = sorted(rows["epsilon"].unique())[1]
        return rows.assign(converged=(rows["seed"] > 2) | (rows["epsilon"] != second))

    claim = judged_with("fig2", "true_regret_summary", broken)["approach"]
    assert claim.verdict == UNDECIDED
    assert "2 realizations" in claim.note


def test_only_of_the_undamped_ball_is_it_said_that_the_function_is_all():
    """The damping by diag F changes when weights are rotated."""
    said = {name: claim.says for name, claim in judged(RIGHT, "fig4").items()}
    assert {name for name in said if "only on the function" in said[name]} == {"kl_regret"}


def test_the_change_is_the_largest_of_all_factors():
    """R grows as α^½ from 1/4 to 4, and so is twice as large at α = 4."""
    claims = judged(RIGHT, "fig4")
    assert claims["regret"].estimate.value == pytest.approx(1.0, abs=0.05)
    assert claims["sharpness_contrast"].estimate.value == pytest.approx(0.1)
