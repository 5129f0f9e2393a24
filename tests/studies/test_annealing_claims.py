"""The claims of the study `annealing`, where the paper is right and where it is not."""

from functools import cache
from math import isfinite, isnan

import numpy as np
import pytest
from annealing_worlds import JUDGED, RIGHT, WRONG, world
from judging import judged_figure, verdicts, with_columns

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.claims.conventions import near
from flatlas.evidence.material import Material

pytestmark = pytest.mark.filterwarnings("error")

THREE = (
    "3 realizations: the interval is the range of the resamples, which covers about three quarters."
)
# Claims by a bootstrap over directions, which one realization can decide.
OF_DIRECTIONS = ("gamma", "inverse", "psi", "rises", "curvature", "spread", "product", "flatter")


def judge(figure, material):
    return judged_figure("annealing", figure, material)


@cache
def judged(right, figure, seeds=3):
    """The claims of an unchanged world, with which several tests compare."""
    return judge(figure, world(right, figure, seeds))


@pytest.mark.parametrize("figure", JUDGED)
def test_every_claim_is_reproduced_where_the_paper_is_right(figure):
    claims = judged(RIGHT, figure)
    assert verdicts(claims) == dict.fromkeys(claims, REPRODUCED)
    assert {claim.note for claim in claims.values()} == {THREE}


@pytest.mark.parametrize("figure", JUDGED)
def test_no_claim_is_reproduced_where_the_paper_is_wrong(figure):
    """Except that there are two phases; but the second is hardly slower."""
    claims = judged(WRONG, figure)
    two = {name: REPRODUCED for name in claims if name.endswith("_phases")}
    assert verdicts(claims) == dict.fromkeys(claims, NOT_REPRODUCED) | two


def test_a_loss_of_one_phase():
    one = with_columns(
        world(RIGHT, "s1"), "history", train_loss=lambda rows: 1 / rows["epoch"].clip(lower=1)
    )
    for name, claim in judge("s1", one).items():
        assert claim.verdict == (NOT_REPRODUCED if name.endswith("_phases") else UNDECIDED)


@pytest.mark.parametrize("figure", JUDGED)
def test_one_realization_decides_claims_over_its_directions(figure):
    claims = judge(figure, world(RIGHT, figure, seeds=1))
    for name, claim in claims.items():
        assert isfinite(claim.estimate.value)
        by_directions = name.startswith(OF_DIRECTIONS)
        assert claim.verdict == (REPRODUCED if by_directions else UNDECIDED), name
        if by_directions:
            assert claim.note == "One realization: the interval is that of its directions."
        else:
            assert isnan(claim.estimate.low)


@pytest.mark.parametrize("figure", JUDGED)
def test_where_everything_diverged_nothing_is_decided(figure):
    material = world(RIGHT, figure, seeds=2)
    tables = {name: table.iloc[:0] for name, table in material.tables.items()}
    tables["outcomes"] = material.tables["outcomes"].assign(converged=False, met_epoch=0)
    claims = judge(figure, Material(tables))
    assert verdicts(claims) == dict.fromkeys(judged(RIGHT, figure), UNDECIDED)
    assert all(isnan(claim.estimate.value) and claim.note for claim in claims.values())


@pytest.mark.parametrize("figure", [one for one in JUDGED if one != "s3"])
def test_a_sweep_that_is_not_drawn_leaves_its_claims_undecided(figure):
    """Except in s3, whose claims are one per run: without runs there are none."""
    material = world(RIGHT, figure, seeds=2)
    renamed = {name: t.assign(sweep="another") for name, t in material.tables.items()}
    claims = judge(figure, Material(renamed))
    assert claims
    assert verdicts(claims) == dict.fromkeys(claims, UNDECIDED)
    assert all("is not drawn" in claim.note for claim in claims.values())


def test_each_run_of_a_sweep_has_its_own_claims():
    claims = judged(RIGHT, "fig2")
    runs = ("B50_lr0.1", "B25_lr0.1", "B100_lr0.1", "B50_lr0.05", "B50_lr0.2")
    assert {f"psi_{run}" for run in runs} <= set(claims)
    layers = {"deep_fc2", "deep_fc3", "deep_fc4", "lenet_cifar_conv1", "lenet_cifar_conv2"}
    nets = {*layers, "adam", "momentum"}
    assert set(judged(RIGHT, "s3")) == {f"inverse_{net}" for net in nets}


def test_checkpoints_beyond_the_end_of_a_training_do_not_count():
    wild = with_columns(
        world(RIGHT, "fig5"),
        "cooling_directions",
        temperature=lambda rows: rows["temperature"].mask(rows["at"] == "500", 1e9),
    )
    assert judge("fig5", wild) == judged(RIGHT, "fig5")


def test_a_run_with_another_psi_affects_only_its_own_claim():
    odd = with_columns(
        world(RIGHT, "fig2"),
        "valley_directions",
        variance=lambda rows: rows["variance"].mask(rows["batch"] == 25, rows["flatness"] ** -2),
    )
    claims = judge("fig2", odd)
    wrong = {name for name, claim in claims.items() if claim.verdict != REPRODUCED}
    assert wrong == {"psi_B25_lr0.1"}
    assert claims["psi_B25_lr0.1"].estimate.value == pytest.approx(2)


def test_ends_of_valleys_that_were_not_found_leave_claims_undecided():
    lost = with_columns(
        world(RIGHT, "fig2"), "valley_directions", converged=lambda rows: rows["rank"] % 5 > 0
    )
    claims = judge("fig2", lost)
    assert verdicts(claims) == dict.fromkeys(claims, UNDECIDED)
    assert all("measurements did not converge" in claim.note for claim in claims.values())


def test_a_hill_half_way_is_no_parabola():
    """A third of the directions have none; all others are exact."""
    bent = with_columns(
        world(RIGHT, "fig2"),
        "valley_directions",
        curvature=lambda rows: rows["curvature"].mask(rows["rank"] % 15 == 0, -1.0),
    )
    claim = judge("fig2", bent)["quadratic"]
    assert claim.verdict == NOT_REPRODUCED
    assert 0.2 < claim.estimate.value < 0.4


@pytest.mark.parametrize("figure", ["fig1", "fig2", "fig3", "fig5"])
def test_directions_in_which_nothing_moves_do_not_count(figure):
    """Their variance is round-off, their valley has no ends, their velocity no correlation."""
    table = "pca_directions" if figure == "fig1" else "valley_directions"
    rows = world(RIGHT, figure).tables[table]
    dead = rows["rank"].between(101, 200)
    lost = {"variance": 1e-30, "flatness": np.nan, "converged": False, "velocity_time": np.inf}
    columns = {name: rows[name].mask(dead, lost[name]) for name in lost.keys() & set(rows)}
    claims = judge(figure, with_columns(world(RIGHT, figure), table, **columns))
    claims.pop("steeper", None)
    assert verdicts(claims) == dict.fromkeys(claims, REPRODUCED)


def test_numbers_of_the_first_figure():
    claims = judged(RIGHT, "fig1")
    expected = {"gamma": 2.6, "steeper": 2.4, "first": 2**-2.6 / 100, "rank_90": 34, "drift": 0}
    for name, value in expected.items():
        assert claims[name].estimate.value == pytest.approx(value, rel=1e-6), name
    assert claims["share_35"].estimate.value == pytest.approx(1 - np.exp(-34 / 14))
    assert claims["walks"].estimate.value == 1


def test_near_is_three_tenths_more_or_less_on_either_side_of_zero():
    assert [near(4).low, near(4).high] == pytest.approx([2.8, 5.2])
    assert [near(-2).low, near(-2).high] == pytest.approx([-2.6, -1.4])
