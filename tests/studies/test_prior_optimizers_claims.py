"""Optimizers are compared at equal attack sets: the size of the set is no evidence for them."""

from itertools import product

import judging
import numpy as np
import pandas as pd
import pytest
from side_by_side import with_history

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED
from flatlas.evidence.material import Material
from flatlas.studies.prior import optimizers as drawn

OPTIMIZERS = ("sgd", "adam", "momentum", "rmsprop")
SIZES = (0, 50, 100)


def world(prior, flatness):
    """Prior and flatness change with an optimizer's rank, and far more with the attack set."""
    rows = []
    for seed, size, (rank, sweep) in product(range(5), SIZES, enumerate(OPTIMIZERS)):
        chance = np.random.default_rng([seed, size, rank]).normal(0, 0.01, 3)
        rows.append(
            {
                "sweep": sweep, "run": f"{sweep}-{size}", "seed": seed, "at": "met+0",
                "epoch": 9, "data.attack_size": size, "train_error": 0.0,
                "test_error": 0.1 + size / 250 - 0.01 * rank + 0.001 * chance[0],
                "log10_p": -300.0 - size + prior(size) * rank + chance[1],
                "sharpness": 10.0 ** (size / 50 - flatness(size) * rank + chance[2]),
                "first_order": 0.1, "rest": 0.1, "gradient_norm": 1.0, "loss": 0.1,
                "train_size": 500, "converged": True,
            }
        )  # fmt: skip
    table = pd.DataFrame(rows)
    ended = table.assign(met_epoch=9, reason="rule met")
    return with_history({"outcomes": ended, "prior_summary": table, "sharpness_summary": table})


def judge(material):
    return judging.judge("prior", "optimizers", material)


def test_claims_hold_where_prior_and_flatness_order_optimizers_at_each_size():
    claims = judge(world(lambda size: 1.0, lambda size: 0.1))
    assert len(claims) == 12
    assert {claim.verdict for claim in claims.values()} == {REPRODUCED}


def test_claims_fail_where_prior_and_flatness_only_follow_the_size_of_the_attack_set():
    """Over all nets the correlation with the accuracy is above 0.99."""
    material = world(lambda size: -1.0, lambda size: -0.1)
    table = material.tables["prior_summary"]
    assert table["log10_p"].corr(-table["test_error"]) > 0.99
    assert {claim.verdict for claim in judge(material).values()} == {NOT_REPRODUCED}


@pytest.mark.parametrize("name", ["prior", "flatness"])
def test_clean_and_wrong_labels_are_judged_apart(name):
    claims = judge(world(lambda size: -1.0 if size else 1.0, lambda size: -0.1 if size else 0.1))
    found = {kind: claims[f"{name}_{kind}_pearson"] for kind in ("clean", "wrong")}
    assert found["clean"].verdict == REPRODUCED
    assert found["wrong"].verdict == NOT_REPRODUCED


def test_an_optimizer_alone_at_its_size_is_left_out():
    material = world(lambda size: 1.0, lambda size: 0.1)
    alone = {
        name: table[(table["data.attack_size"] < 100) | (table["sweep"] == "sgd")]
        for name, table in material.tables.items()
    }
    points = drawn.draw(Material(alone)).points
    at_100 = points["attack_size"] == 100
    assert at_100.sum() == 5
    assert points["log10_p_apart"].isna().equals(at_100)
    few = judge(Material(alone))["prior_wrong_pearson"]
    only = judge(Material({n: t[t["data.attack_size"] < 100] for n, t in alone.items()}))
    assert few.estimate == only["prior_wrong_pearson"].estimate


def test_figure_and_claims_have_the_same_coefficients():
    material = world(lambda size: 0.1 * (-1) ** (size // 50), lambda size: 0.01)
    points = drawn.draw(material).points
    clean = points[points["labels"] == drawn.CLEAN]
    expected = np.mean(
        [one["log10_p_apart"].corr(one["accuracy_apart"]) for _, one in clean.groupby("seed")]
    )
    value = judge(material)["prior_clean_pearson"].estimate.value
    assert value == pytest.approx(expected, abs=1e-9)
