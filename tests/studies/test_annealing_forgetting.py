"""Figure 4 of the study `annealing`: what it draws, and what its claims are made of."""

from functools import cache, partial

import judging
import numpy as np
import pytest
from annealing_worlds import COUNTS, DISPLACED, FLATNESS, STRENGTHS, saturated, world
from declared import RIGHT, WRONG
from judging import with_columns
from pencil import rows_where

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.evidence.material import Material
from flatlas.studies.annealing import fig4

pytestmark = pytest.mark.filterwarnings("error")
judge = partial(judging.judge, "annealing", "fig4")


@cache
def drawn():
    return fig4.draw(world(RIGHT, "fig4")).points


def ends(method, strength, count):
    """ε1 and ε2, means over realizations."""
    return np.mean([saturated(RIGHT, method, strength, count, seed) for seed in range(3)], 0)


def test_which_constraints_each_panel_has():
    for panel, point in {"A": (0, 0), "B": (0, 0), "C": (10, 200), "D": (10, 200)}.items():
        points = rows_where(drawn(), panel=panel)[["strength", "directions"]].drop_duplicates()
        assert [tuple(row) for row in points.values] == [point]


def test_the_nearest_constraints_are_drawn_and_judged_if_the_papers_are_missing():
    made = world(RIGHT, "fig4")
    less = {
        name: table[(table["strength"] != 10) & (table["directions"] != 200)]
        for name, table in made.tables.items()
        if "strength" in table
    }
    material = Material({**made.tables, **less})
    rows = rows_where(fig4.draw(material).points, panel="C")
    assert rows["directions"].unique().tolist() == [500]
    assert rows["strength"].unique().tolist() == [1]
    lost, left = (ends("ldc", *point)[0] - 0.003 for point in ((0, 0), (1, 500)))
    assert judge(material)["kept"].estimate.value == pytest.approx(left / lost)


def test_the_threshold_and_the_displacements_of_the_first_net():
    rows = rows_where(drawn(), panel="D")
    assert rows["rank"].tolist() == DISPLACED.tolist()
    np.testing.assert_allclose(rows["threshold"], 0.008 * FLATNESS)
    np.testing.assert_allclose(rows["q"], 0.001 / DISPLACED**0.01)


def test_the_trade_off_is_of_200_directions_or_all_weights():
    for method, count in (("ldc", 200), ("ldc_variance", 200), ("ewc", 2500)):
        rows = rows_where(drawn(), panel="E", method=method)
        assert rows["strength"].tolist() == [0, *STRENGTHS]
        assert rows["directions"].tolist() == [0, *[count] * len(STRENGTHS)]
        expected = [ends(method, strength, count)[0] for strength in STRENGTHS]
        np.testing.assert_allclose(rows["epsilon_1"][1:], expected)


def test_the_number_of_constraints_has_the_best_strength_of_each():
    best = rows_where(drawn(), panel="F", method="ewc")
    assert best["directions"].tolist() == list(COUNTS["ewc"])
    for count, total in zip(COUNTS["ewc"], best["total"], strict=True):
        assert total == pytest.approx(
            min(ends("ewc", strength, count).sum() for strength in STRENGTHS)
        )
    both = rows_where(drawn(), panel="F", method="ldc")
    assert len(both) == 2 * len(COUNTS["ldc"]), "the best λ, and the paper's"
    assert set(both["strength"][len(COUNTS["ldc"]) :]) == {10}


def test_the_numbers_of_constraints_that_are_enough():
    claims = judging.judged("annealing", RIGHT, "fig4")
    assert claims["few_directions"].estimate.value == 200
    assert claims["all_weights"].estimate.value == 1


def test_where_nothing_is_forgotten_there_is_nothing_to_keep():
    material = with_columns(
        world(WRONG, "fig4"), "ldc_errors", epsilon_1=lambda rows: 0.01 - 0.001 * rows["time"]
    )
    claims = judge(with_columns(material, "ldc_points", epsilon_1=0.009))
    assert claims["forgotten"].verdict == NOT_REPRODUCED
    assert claims["kept"].verdict == UNDECIDED


def moving(change, **columns):
    """Claims where ε1 has still changed by that much with LDC, while ε2 has settled."""
    made = world(RIGHT, "fig4")
    rows = made.tables["ldc_points"]
    held = rows["strength"] > 0
    new = {name: rows[name].where(~held, value) for name, value in columns.items()}
    new |= {"converged": ~held, "change_1": change * held}
    return judge(with_columns(made, "ldc_points", **new))


def test_errors_that_still_move_decide_nothing():
    claims = moving(0.02)
    assert claims["ldc_below"].verdict == claims["few_directions"].verdict == UNDECIDED
    assert claims["learnt"].verdict == REPRODUCED, "that is about ε2"


@pytest.mark.parametrize(
    ("epsilon_1", "change", "verdict"),
    [(0.3, 0.02, NOT_REPRODUCED), (0.3, -0.02, UNDECIDED), (0.01, 0.02, UNDECIDED)],
)
def test_an_error_that_still_grows_can_only_be_too_large(epsilon_1, change, verdict):
    assert moving(change, epsilon_1=epsilon_1)["kept"].verdict == verdict


def test_the_gap_between_two_curves_by_hand():
    """At ε2 = 0.1, 0.2, 0.3 one has ε1 = 0.5, 0.1, 0.1, the other 0.4, 0.4, 0.2."""
    one = [np.array([[0.1, 0.2]]), np.array([[0.5, 0.1]])]
    other = [np.array([[0.1, 0.3]]), np.array([[0.4, 0.2]])]
    gaps = fig4.curve_gaps(one, other)[0]
    np.testing.assert_allclose(sorted(gaps), [-0.3, -0.1, 0.1, 0.1])
    assert np.isnan(fig4.curve_gaps(one, [other[0] + 1, other[1]])[0][:2]).all()
