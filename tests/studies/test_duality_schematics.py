"""The schematics (1, S7) are computed, and show what they say."""

import numpy as np
import pytest
from pencil import rows_where

from flatlas.evidence.material import Material
from flatlas.studies.duality import fig1, s7

NOTHING = Material({})


def test_all_dual_weights_and_the_changed_activity_have_the_same_loss():
    points = fig1.draw(NOTHING).points
    after = rows_where(points, quantity="x'")["loss"].item()
    np.testing.assert_allclose(
        rows_where(points, quantity="dual weights")["loss"], after, rtol=1e-12
    )
    assert rows_where(points, quantity="w*")["loss"].item() == pytest.approx(after, rel=1e-12)
    assert rows_where(points, quantity="w")["loss"].item() != pytest.approx(after, rel=0.1)


def test_no_dual_weight_is_nearer_than_the_minimal_one():
    points = fig1.draw(NOTHING).points
    w, minimal, line = (
        rows_where(points, quantity=name)[["w_1", "w_2"]].to_numpy()
        for name in ("w", "w*", "dual weights")
    )
    distances = np.linalg.norm(line - w, axis=1)
    assert distances.min() == pytest.approx(np.linalg.norm(minimal - w), rel=1e-12)
    assert distances.argmin() == len(line) // 2


def test_the_layer_picture_shows_one_preactivation():
    changed = fig1.CHANGED @ fig1.WEIGHTS
    np.testing.assert_allclose(fig1.ACTIVITY @ fig1.DUAL, changed)
    texts = [text.get_text() for text in fig1.draw(NOTHING).figure.axes[1].texts]
    assert sum(f"{changed:.2f}" in text for text in texts) == 2


def test_the_gap_is_the_mean_loss_over_the_dual_weights():
    points = s7.draw(NOTHING).points
    for _, curves in points.groupby(["panel", "solution"]):
        w, mean = curves["w"], np.trapezoid(curves["loss"] * curves["density"], curves["w"])
        # Cut off beyond the drawn piece of the curves.
        assert np.trapezoid(curves["density"], w) == pytest.approx(1, abs=0.011)
        assert mean == pytest.approx(curves["gap"].iloc[0], rel=0.08)


def test_the_flatter_and_the_smaller_solution_have_the_smaller_gap():
    gaps = s7.draw(NOTHING).points.groupby("solution")["gap"].first()
    assert gaps["w_2"] < gaps["w_1"]
    assert gaps["w_3"] < gaps["w_4"]
