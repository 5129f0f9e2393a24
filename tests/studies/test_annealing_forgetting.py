"""Figure 4 of the study `annealing`: what it draws, and its claims in a right and a wrong world."""

from functools import cache
from math import isfinite, isnan

import made_up_forgetting
import numpy as np
import pytest
from annealing_worlds import RIGHT, WRONG
from judging import judged_figure, verdicts, with_columns
from pencil import rows_where
from side_by_side import side_by_side

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.evidence.material import Material
from flatlas.studies.annealing import fig4

pytestmark = pytest.mark.filterwarnings("error")
STRENGTHS = (1.0, 10.0, 100.0, 1000.0)
COUNTS = {
    "ldc": (20, 50, 200, 500, 1000),
    "ldc_variance": (20, 50, 200, 500, 1000),
    "ewc": (20, 200, 1000, 2500),
}
RANK = np.arange(1, 301)
FLATNESS = 1 + RANK / 1000
# How many constraints are enough, by method.
ENOUGH = {
    RIGHT: {"ldc": 200, "ldc_variance": 200, "ewc": 2500},
    WRONG: {"ldc": 1000, "ldc_variance": 1000, "ewc": 20},
}


def saturated(right, method, strength, count, seed):
    """ε1 and ε2: half of task-1 is forgotten without constraints, and constraints cost ε2."""
    moved = 0.001 * np.random.default_rng(seed).normal()
    if not strength:
        return (0.5 if right else 0.05) + 0.003 + moved, 0.01
    reach = min(1.0, count / ENOUGH[right][method])
    better = (method == "ewc") != right
    kept = reach * (1 - 1 / (1 + strength * (3.0 if better else 0.3)))
    epsilon_1 = 0.003 + (0.5 * (1 - kept) + moved if right else 0.1 - 0.09 * kept)
    return epsilon_1, 0.01 + 0.3 * (strength / 1000) ** 2 + (0 if right else 0.05)


@cache
def world(right, seeds=5, strengths=STRENGTHS, without=None):
    """The material, which must not be changed; perhaps without a number of constraints."""

    def displaced(strength, count):
        q = (0.1 if (strength == 0) == right else 0.001) / RANK**0.01
        return {"rank": RANK, "q": q, "flatness": FLATNESS, "converged": True}

    ended = {"reason": "rule met", "met_epoch": 9, "epoch": 9, "converged": True}
    parts = {"outcomes": [({}, [{"seed": seed, **ended}]) for seed in range(seeds)]}
    for method, counts in COUNTS.items():
        counts = [count for count in counts if count != without]
        for seed in range(seeds):

            def ends(strength, count, method=method, seed=seed):
                return saturated(right, method, strength, count, seed)

            net = {"seed": seed, "at": "final", "epoch": 9}
            tables = made_up_forgetting.tables(strengths, counts, ends, displaced)
            for name, table in tables.items():
                parts.setdefault(f"{method}_{name}", []).append((net, table))
    whole = {name: side_by_side(tables) for name, tables in parts.items()}
    return Material({name: rows.assign(sweep="task_1", run="a") for name, rows in whole.items()})


@cache
def drawn():
    return fig4.draw(world(RIGHT, seeds=2)).points


def means(method, count):
    """ε1 and ε2 of two realizations, at each λ."""
    ends = [[saturated(RIGHT, method, s, count, seed) for s in STRENGTHS] for seed in range(2)]
    return np.mean(ends, 0).T


def judged(material):
    return judged_figure("annealing", "fig4", material)


def test_which_constraints_each_panel_has():
    for panel, point in {"A": (0, 0), "B": (0, 0), "C": (10, 200), "D": (10, 200)}.items():
        points = rows_where(drawn(), panel=panel)[["strength", "directions"]].drop_duplicates()
        assert [tuple(row) for row in points.values] == [point]


def test_the_nearest_constraints_are_drawn_and_judged_if_the_papers_are_missing():
    material = world(RIGHT, 2, tuple(s for s in STRENGTHS if s != 10), without=200)
    rows = rows_where(fig4.draw(material).points, panel="C")
    assert rows["directions"].unique().tolist() == [500]
    assert rows["strength"].unique().tolist() == [1]
    lost = [saturated(RIGHT, "ldc", 0, 0, seed)[0] - 0.003 for seed in range(2)]
    left = [saturated(RIGHT, "ldc", 1, 500, seed)[0] - 0.003 for seed in range(2)]
    assert judged(material)["kept"].estimate.value == pytest.approx(sum(left) / sum(lost))


def test_the_threshold_and_the_displacements_of_the_first_net():
    rows = rows_where(drawn(), panel="D")
    assert rows["rank"].tolist() == RANK.tolist()
    np.testing.assert_allclose(rows["threshold"], 0.008 * FLATNESS)
    np.testing.assert_allclose(rows["q"], 0.001 / RANK**0.01)


def test_the_trade_off_is_of_200_directions_or_all_weights():
    for method, count in (("ldc", 200), ("ldc_variance", 200), ("ewc", 2500)):
        rows = rows_where(drawn(), panel="E", method=method)
        assert rows["strength"].tolist() == [0, *STRENGTHS]
        assert rows["directions"].tolist() == [0, *[count] * len(STRENGTHS)]
        np.testing.assert_allclose(rows["epsilon_1"][1:], means(method, count)[0])


def test_the_number_of_constraints_has_the_best_strength_of_each():
    best = rows_where(drawn(), panel="F", method="ewc")
    assert best["directions"].tolist() == list(COUNTS["ewc"])
    for count, total in zip(COUNTS["ewc"], best["total"], strict=True):
        assert total == pytest.approx(means("ewc", count).sum(0).min())
    both = rows_where(drawn(), panel="F", method="ldc")
    assert len(both) == 2 * len(COUNTS["ldc"]), "the best λ, and the paper's"
    assert set(both["strength"][len(COUNTS["ldc"]) :]) == {10}


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
    material = with_columns(
        world(WRONG), "ldc_errors", epsilon_1=lambda rows: 0.01 - 0.001 * rows["time"]
    )
    claims = judged(with_columns(material, "ldc_points", epsilon_1=0.009))
    assert claims["forgotten"].verdict == NOT_REPRODUCED
    assert claims["kept"].verdict == claims["learnt"].verdict == UNDECIDED


def test_one_realization_decides_nothing():
    claims = judged(world(RIGHT, seeds=1))
    assert verdicts(claims) == dict.fromkeys(claims, UNDECIDED)
    for claim in claims.values():
        assert isfinite(claim.estimate.value) and isnan(claim.estimate.low)


def test_where_nothing_was_measured_nothing_is_decided():
    made = world(RIGHT, seeds=3)
    empty = {name: rows.iloc[:0] for name, rows in made.tables.items() if name != "outcomes"}
    lost = made.tables["outcomes"].assign(converged=False, reason="epochs exhausted")
    claims = judged(Material({**empty, "outcomes": lost}))
    assert verdicts(claims) == dict.fromkeys(claims, UNDECIDED)


def test_errors_that_still_move_decide_nothing():
    material = world(RIGHT)
    for method in COUNTS:
        material = with_columns(material, f"{method}_points", converged=False)
    claims = judged(material)
    assert claims["ldc_below"].verdict == UNDECIDED
    assert "did not converge" in claims["kept"].note


def test_the_gap_between_two_curves_by_hand():
    """At ε2 = 0.1, 0.2, 0.3 one has ε1 = 0.5, 0.1, 0.1, the other 0.4, 0.4, 0.2."""
    one = [np.array([[0.1, 0.2]]), np.array([[0.5, 0.1]])]
    other = [np.array([[0.1, 0.3]]), np.array([[0.4, 0.2]])]
    gaps = fig4.curve_gaps(one, other)[0]
    np.testing.assert_allclose(sorted(gaps), [-0.3, -0.1, 0.1, 0.1])
    assert np.isnan(fig4.curve_gaps(one, [other[0] + 1, other[1]])[0][:2]).all()
