"""Claims of the study `mystery`, in a world where the post is right and in one where it is not."""

from functools import cache

import pytest
from judging import (
    assert_all_come_out,
    assert_nothing_is_known,
    assert_numbers_decide_nothing,
    judged_figure,
)
from mystery_worlds import RIGHT, SWEEPS, WRONG, world
from scipy import stats

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.evidence.material import Material

pytestmark = pytest.mark.filterwarnings("error")
FIGURES = sorted(SWEEPS)


def judge(figure, material):
    return judged_figure("mystery", figure, material)


@cache
def judged(right, figure):
    return judge(figure, world(right, figure))


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize(("right", "verdict"), [(RIGHT, REPRODUCED), (WRONG, NOT_REPRODUCED)])
def test_every_claim_comes_out_as_the_world_is(figure, right, verdict):
    assert_all_come_out(judged(right, figure), verdict)


@pytest.mark.parametrize("figure", FIGURES)
def test_one_realization_has_numbers_and_decides_nothing(figure):
    assert_numbers_decide_nothing(judge(figure, world(RIGHT, figure, seeds=1)))


@pytest.mark.parametrize("figure", FIGURES)
def test_where_no_net_reached_zero_error_nothing_is_decided(figure):
    """A measure then writes a table without rows, and without columns of its own."""
    material = world(RIGHT, figure, seeds=2)
    standing = ["sweep", "run", "seed", "at", "epoch"]
    tables = {
        name: table.iloc[:0][standing] for name, table in material.tables.items() if "at" in table
    }
    lost = {"converged": False, "reason": "epochs exhausted", "met_epoch": 0}
    tables["outcomes"] = material.tables["outcomes"].assign(**lost)
    assert_nothing_is_known(judge(figure, Material(tables)), judged(RIGHT, figure).keys())


def test_searches_that_did_not_converge_decide_nothing():
    material = world(RIGHT, "fig3")
    ball = material.tables["regret_kl_ball"].assign(converged=False)
    claims = judge("fig3", Material({**material.tables, "regret_kl_ball": ball}))
    lost = {name for name, claim in claims.items() if claim.verdict == UNDECIDED}
    assert lost == {name for name in claims if name.startswith(("kl_", "damped_"))}


def test_a_coefficient_is_the_mean_of_those_of_each_realization():
    material = world(WRONG, "fig3")
    rows = material.tables["regret_summary"].groupby("seed")
    of_each = [stats.spearmanr(one["regret"], one["test_error"]).statistic for _, one in rows]
    claim = judged(WRONG, "fig3")["regret"]
    assert claim.estimate.value == pytest.approx(sum(of_each) / len(of_each), rel=1e-12)


def test_a_trend_over_balls_ends_where_a_search_did_not_converge():
    """Then too few balls are left of this realization, and too few realizations of the claim."""
    material = world(RIGHT, "fig2", seeds=3)
    table = "true_regret_summary"
    rows = material.tables[table]
    second = sorted(rows["epsilon"].unique())[1]
    lost = (rows["seed"] == 0) & (rows["epsilon"] == second)
    broken = rows.assign(converged=rows["converged"] & ~lost)
    claim = judge("fig2", Material({**material.tables, table: broken}))["approach"]
    assert claim.verdict == UNDECIDED
    assert "2 realizations" in claim.note


def test_only_of_the_undamped_ball_is_it_said_that_the_function_is_all():
    """The damping, by diag F, changes when weights are rotated."""
    said = {name: claim.says for name, claim in judged(RIGHT, "fig4").items()}
    assert {name for name in said if "only on the function" in said[name]} == {"kl_regret"}


def test_the_change_is_the_largest_of_all_factors():
    """R goes as α^½ from 1/4 to 4: twice as large at the far end."""
    claims = judged(RIGHT, "fig4")
    assert claims["regret"].estimate.value == pytest.approx(1.0, abs=0.05)
    assert claims["sharpness_contrast"].estimate.value == pytest.approx(0.1)
