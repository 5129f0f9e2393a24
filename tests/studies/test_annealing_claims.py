"""Claims of the study `annealing`: what they are made of, and what makes them undecided."""

import numpy as np
import pytest
from annealing_worlds import world
from declared import RIGHT
from judging import of_study, verdicts

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.claims.conventions import near

pytestmark = pytest.mark.filterwarnings("error")
_, judged, changed = of_study("annealing")


def test_a_loss_of_one_phase():
    claims = changed("s1", "history", train_loss=lambda rows: 1 / rows["epoch"].clip(lower=1))
    for name, claim in claims.items():
        assert claim.verdict == (NOT_REPRODUCED if name.endswith("_phases") else UNDECIDED)


def test_each_run_of_a_sweep_has_its_own_claims():
    claims = judged(RIGHT, "fig2")
    runs = ("B50_lr0.1", "B25_lr0.1", "B100_lr0.1", "B50_lr0.05", "B50_lr0.2")
    assert {f"psi_{run}" for run in runs} <= set(claims)
    layers = {"deep_fc2", "deep_fc3", "deep_fc4", "lenet_cifar_conv1", "lenet_cifar_conv2"}
    nets = {*layers, "adam", "momentum"}
    assert set(judged(RIGHT, "s3")) == {f"inverse_{net}" for net in nets}


def test_checkpoints_beyond_the_end_of_a_training_do_not_count():
    claims = changed(
        "fig5",
        "cooling_directions",
        temperature=lambda rows: rows["temperature"].mask(rows["at"] == "500", 1e9),
    )
    assert claims == judged(RIGHT, "fig5")


def test_a_run_with_another_psi_affects_only_its_own_claim():
    claims = changed(
        "fig2",
        "valley_directions",
        variance=lambda rows: rows["variance"].mask(rows["batch"] == 25, rows["flatness"] ** -2),
    )
    assert {name for name in claims if claims[name].verdict != REPRODUCED} == {"psi_B25_lr0.1"}
    assert claims["psi_B25_lr0.1"].estimate.value == pytest.approx(2)


def test_a_hill_half_way_is_no_parabola():
    """A third of the directions have none; all others are exact."""
    claim = changed(
        "fig2",
        "valley_directions",
        curvature=lambda rows: rows["curvature"].mask(rows["rank"] % 15 == 0, -1.0),
    )["quadratic"]
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
    claims = changed(figure, table, **columns)
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
