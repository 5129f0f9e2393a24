"""The schematics of the study `prior` (1, S1) are computed, and show what is true."""

import numpy as np
import pytest
from pencil import rows_where

from flatlas.evidence.material import Material
from flatlas.studies.prior import fig1, s1

NOTHING = Material({})


@pytest.fixture(scope="module")
def landscape():
    points = fig1.draw(NOTHING).points
    return rows_where(points, panel="A"), rows_where(points, panel="B, C").set_index("function")


def test_a_basin_of_attraction_ends_on_the_ridges_of_the_loss(landscape):
    """In one dimension no descent crosses a ridge."""
    curve, volumes = landscape
    loss = curve["loss"].to_numpy()
    ridges = [0, *(1 + np.flatnonzero((loss[1:-1] > 0.5) & (np.diff(np.sign(np.diff(loss))) < 0)))]
    widths = np.diff([*ridges, len(loss) - 1]) / (len(loss) - 1)
    np.testing.assert_allclose(volumes.loc[fig1.NAMES, "basin_volume"], widths, atol=2e-3)


def test_basins_are_proportional_to_volumes(landscape):
    ratio = landscape[1]["basin_volume"] / landscape[1]["volume"]
    np.testing.assert_allclose(ratio, 1 / fig1.REACH, rtol=0.02)


def test_the_larger_the_volume_the_flatter_on_average_but_not_everywhere(landscape):
    volumes = landscape[1].sort_values("volume")
    assert volumes["mean"].is_monotonic_decreasing
    assert (volumes["largest"].iloc[1:].to_numpy() > volumes["least"].iloc[:-1].to_numpy()).all()


def test_sharpness_is_the_largest_rise_within_the_box(landscape):
    """Compared with a search on a finer grid at a few weights."""
    curve = landscape[0].set_index("w")["sharpness"]
    for w in (0.1, 0.2, 0.53, 0.6, 0.94):
        around = fig1.loss(np.linspace(w - fig1.BOX, w + fig1.BOX, 2001))
        rise = around.max() - fig1.loss(np.array([w]))[0]
        assert curve.iloc[curve.index.get_indexer([w], "nearest")[0]] == pytest.approx(
            rise, rel=1e-3
        )


def test_the_loss_is_continuous_and_zero_error_lies_at_its_bottom(landscape):
    curve = landscape[0]
    assert curve["loss"].diff().abs().max() < 0.02
    inside = curve["function"] != ""
    assert curve.loc[inside, "loss"].max() < curve.loc[~inside, "loss"].min() + 0.01


def test_the_four_functions_follow_one_from_another():
    points = s1.draw(NOTHING).points
    f, probability, label, bits = (rows_where(points, meaning=name) for name in s1.PANELS)
    x = f["x"].to_numpy()
    slopes = np.unique(np.diff(f["value"]) / np.diff(x).round(6))
    steps = np.concatenate([[0], np.cumsum(s1.OUTPUT_WEIGHTS)])
    assert all(np.abs(slopes - step).min() < 1e-6 for step in steps[1:])
    assert f["value"].iloc[0] == pytest.approx(s1.OUTPUT_BIAS)
    odds = np.log(probability["value"].to_numpy() / (1 - probability["value"].to_numpy()))
    np.testing.assert_allclose(odds, f["value"], atol=1e-9)
    np.testing.assert_array_equal(label["value"], f["value"].to_numpy() >= 0)
    np.testing.assert_array_equal(bits["value"], np.interp(bits["x"], x, f["value"]) >= 0)


def test_the_string_of_bits_is_written_above_its_points():
    drawing = s1.draw(NOTHING)
    bits = rows_where(drawing.points, meaning="restricted")["value"]
    written = [text.get_text() for text in drawing.figure.axes[3].texts]
    assert written == [f"{bit:.0f}" for bit in bits]
    assert {"0", "1"} == set(written)
