"""Claims of Figure 4 of the study `annealing`, where the paper is right and where it is wrong."""

from itertools import product
from math import isfinite, isnan

import numpy as np
import pandas as pd
import pytest

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.evidence.material import Material
from flatlas.studies.annealing.fig4_claims import judge

pytestmark = pytest.mark.filterwarnings("error")
RIGHT, WRONG = True, False
STRENGTHS = (1.0, 10.0, 100.0, 1000.0)
COUNTS = {
    "ldc": (20, 50, 200, 500, 1000),
    "ldc_variance": (20, 50, 200, 500, 1000),
    "ewc": (20, 200, 1000, 2500),
}
RANKS = 1000
# How many constraints do all that can be done, by method.
ENOUGH = {
    RIGHT: {"ldc": 200, "ldc_variance": 200, "ewc": 2500},
    WRONG: {"ldc": 1000, "ldc_variance": 1000, "ewc": 20},
}


def ends(right, method, strength, count, moved):
    """ε1 and ε2: forgotten by half where nothing is held; what is held costs ε2."""
    if not strength:
        return (0.5 if right else 0.05) + 0.003 + moved, 0.01
    reach = min(1.0, count / ENOUGH[right][method])
    better = (method == "ewc") != right
    kept = reach * (1 - 1 / (1 + strength * (3.0 if better else 0.3)))
    epsilon_1 = 0.003 + (0.5 * (1 - kept) + moved if right else 0.1 - 0.09 * kept)
    return epsilon_1, 0.01 + 0.3 * (strength / 1000) ** 2 + (0 if right else 0.05)


def world(right, seeds=5):
    tables = {}
    for method, counts in COUNTS.items():
        for seed, (strength, count) in product(
            range(seeds), [(0.0, 0), *product(STRENGTHS, counts)]
        ):
            moved = 0.001 * np.random.default_rng(seed).normal()
            epsilon_1, epsilon_2 = ends(right, method, strength, count, moved)
            net = {"seed": seed, "strength": strength, "directions": count, "at": "final"}
            saturated = {"epsilon_1": epsilon_1, "epsilon_2": epsilon_2, "converged": True}
            course = {"time": [0.0, 1.0], "epsilon_1": [0.003, epsilon_1]}
            q = 0.1 if (strength == 0) == right else 0.001
            held = {"rank": np.arange(1, RANKS + 1), "q": q, "flatness": 1.0, "converged": True}
            for name, rows in (("points", saturated), ("errors", course), ("displacements", held)):
                frame = pd.DataFrame({**net, **rows}, index=None if name != "points" else [0])
                tables.setdefault(f"{method}_{name}", []).append(frame)
    ended = {"reason": "rule met", "met_epoch": 9, "epoch": 9, "converged": True}
    tables["outcomes"] = [pd.DataFrame({"seed": range(seeds), **ended})]
    return Material(
        {name: pd.concat(parts).assign(sweep="task_1", run="a") for name, parts in tables.items()}
    )


def judged(material):
    claims = judge(material)
    assert len({claim.name for claim in claims}) == len(claims)
    return {claim.name: claim for claim in claims}


def verdicts(claims):
    return {name: claim.verdict for name, claim in claims.items()}


def test_where_the_paper_is_right():
    claims = judged(world(RIGHT))
    assert verdicts(claims) == dict.fromkeys(claims, REPRODUCED)
    assert not any(claim.note for claim in claims.values())
    assert claims["few_directions"].estimate.value == 200
    assert claims["all_weights"].estimate.value == 1


def test_where_the_paper_is_wrong():
    claims = judged(world(WRONG))
    assert claims.pop("forgotten").verdict == REPRODUCED
    assert verdicts(claims) == dict.fromkeys(claims, NOT_REPRODUCED)


def test_where_nothing_is_forgotten_there_is_nothing_to_keep():
    material = world(WRONG)
    tables = {
        name: rows.assign(epsilon_1=0.01 - 0.001 * rows.get("time", 1))
        for name, rows in material.tables.items()
    }
    claims = judged(Material(tables))
    assert claims["forgotten"].verdict == NOT_REPRODUCED
    assert claims["kept"].verdict == claims["learnt"].verdict == UNDECIDED


def test_one_realization_decides_nothing():
    claims = judged(world(RIGHT, seeds=1))
    assert verdicts(claims) == dict.fromkeys(claims, UNDECIDED)
    for claim in claims.values():
        assert isfinite(claim.estimate.value) and isnan(claim.estimate.low)


def test_where_nothing_was_measured_nothing_is_decided():
    made = world(RIGHT, seeds=3)
    standing = ["sweep", "run", "seed", "at"]
    empty = {name: rows.iloc[:0][standing] for name, rows in made.tables.items() if "_" in name}
    lost = made.tables["outcomes"].assign(converged=False, reason="epochs exhausted")
    claims = judged(Material({**empty, "outcomes": lost}))
    assert verdicts(claims) == dict.fromkeys(claims, UNDECIDED)


def test_errors_that_still_move_decide_nothing():
    material = world(RIGHT)
    moving = {
        name: rows.assign(converged=False) if name.endswith("_points") else rows
        for name, rows in material.tables.items()
    }
    claims = judged(Material(moving))
    assert claims["ldc_below"].verdict == UNDECIDED
    assert "did not converge" in claims["kept"].note


def test_the_gap_between_two_curves_by_hand():
    """At ε2 = 0.1, 0.2, 0.3 one has ε1 = 0.5, 0.1, 0.1, the other 0.4, 0.4, 0.2."""
    from flatlas.studies.annealing.fig4_claims import _gaps

    one = [np.array([[0.1, 0.2]]), np.array([[0.5, 0.1]])]
    other = [np.array([[0.1, 0.3]]), np.array([[0.4, 0.2]])]
    gaps = _gaps(one, other)[0]
    np.testing.assert_allclose(sorted(gaps), [-0.3, -0.1, 0.1, 0.1])
    assert np.isnan(_gaps(one, [other[0] + 1, other[1]])[0][:2]).all()
