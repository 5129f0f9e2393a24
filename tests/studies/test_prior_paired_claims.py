"""SGD and Adam are compared in the same realizations, on the attack sets that both have."""

import numpy as np
import pytest
from declared import RIGHT
from judging import chosen, judge, with_columns
from prior_worlds import world
from scipy import stats

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED

ATTACK = "data.attack_size"


def rho(rows):
    return stats.spearmanr(rows["log10_p"], -rows["test_error"]).statistic


def with_noise(material, shared):
    """log10 P(f) falls with the attack set, with noise that both sweeps share or do not."""
    rows = material.tables["prior_summary"]
    sweep = rows["sweep"].eq("adam") & (not shared)
    keys = zip(rows["seed"], rows[ATTACK].astype(int), sweep.astype(int), strict=True)
    noise = [np.random.default_rng(key).normal(0, 60) for key in keys]
    return with_columns(material, "prior_summary", log10_p=-330 - rows[ATTACK] / 5 + noise)


def test_only_attack_sets_that_both_have_are_compared():
    material = world(RIGHT, "fig4")
    sizes = sorted(material.tables["outcomes"][ATTACK].unique())
    gone = sizes[3:5]
    left = chosen(material, lambda rows: (rows["sweep"] != "adam") | ~rows[ATTACK].isin(gone))
    rows = left.tables["prior_summary"]
    rows = rows[~rows[ATTACK].isin(gone)]
    each = [
        rho(mine[mine["sweep"] == "sgd"]) - rho(mine[mine["sweep"] == "adam"])
        for _, mine in rows.groupby("seed")
    ]
    found = judge("prior", "fig4", left)["sgd_adam_prior_spearman"]
    assert found.estimate.value == pytest.approx(np.mean(each), abs=1e-12)


def test_a_net_without_a_solution_takes_its_counterpart_with_it():
    """In this realization only: the coefficients of both are of the same attack sets."""
    material = with_noise(world(RIGHT, "fig4"), shared=True)
    outcomes = material.tables["outcomes"]
    lost = outcomes["sweep"].eq("adam") & (outcomes["seed"] == 1)
    lost &= outcomes[ATTACK].isin(sorted(outcomes[ATTACK].unique())[2:4])
    assert lost.sum() == 2
    left = with_columns(material, "outcomes", converged=outcomes["converged"] & ~lost)
    found = judge("prior", "fig4", left)["sgd_adam_prior_pearson"].estimate
    # Noise and attack sets are the same for both.
    assert (found.value, found.low, found.high) == pytest.approx((0, 0, 0), abs=1e-9)


def test_what_both_share_in_a_realization_does_not_widen_the_interval():
    same, apart = (
        judge("prior", "fig4", with_noise(world(RIGHT, "fig4"), shared)) for shared in (True, False)
    )
    alone = same["prior_adam_pearson"].estimate
    assert alone.high - alone.low > 0.05
    difference = same["sgd_adam_prior_pearson"]
    assert (difference.estimate.low, difference.estimate.high) == pytest.approx((0, 0), abs=1e-9)
    assert difference.verdict == REPRODUCED
    wide = apart["sgd_adam_prior_pearson"].estimate
    assert wide.high - wide.low > 0.05


def test_a_correlation_of_flatness_that_is_the_same_under_adam_is_not_better_under_sgd():
    material = world(RIGHT, "fig4")
    found = material.tables["prior_summary"]["test_error"]
    same = judge("prior", "fig4", with_columns(material, "sharpness_summary", sharpness=found))
    assert same["sgd_adam_flatness_pearson"].verdict == NOT_REPRODUCED


def test_a_correlation_that_adam_turns_round_is_weaker():
    """Equal in size, opposite in sign: the difference is that of the coefficients, 2."""
    material = world(RIGHT, "fig4")
    rows = material.tables["prior_summary"]
    turned = np.where(rows["sweep"] == "adam", 1 - rows["test_error"], rows["test_error"])
    claims = judge("prior", "fig4", with_columns(material, "sharpness_summary", sharpness=turned))
    for kind in ("spearman", "kendall"):
        found = claims[f"sgd_adam_flatness_{kind}"]
        assert found.estimate.value == pytest.approx(2)
        assert found.verdict == REPRODUCED


def test_differences_of_both_signs_do_not_cancel_in_a_level():
    """Adam's accuracy is a fifth of SGD's range above or below it, on every other attack set."""
    material = world(RIGHT, "fig4")
    rows = material.tables["prior_summary"]
    sizes = sorted(rows[ATTACK].unique())
    place = rows[ATTACK].map(sizes.index)
    fifth = 0.1 * (-1.0) ** place * (rows["sweep"] == "adam")
    errors = 0.5 * place / place.max() + fifth
    apart = with_columns(material, "prior_summary", test_error=errors)
    found = judge("prior", "fig4", apart)["level_adam_accuracy"]
    assert found.estimate.value == pytest.approx(0.2)
    assert found.verdict == NOT_REPRODUCED
