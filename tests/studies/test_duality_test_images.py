"""Figures over the number of test images (S1, S2), checked with a pencil."""

from math import sqrt

import numpy as np
import pytest
from pencil import drawn_dots, material, rows_where

from flatlas.studies.duality import s1, s2

POINTS = [("test_images", "a", {})]


@pytest.fixture
def images():
    """The gap of seed 0 is 2 and then 4, that of seed 1 is 6 and then 4."""
    gaps = {(0, 10): 2.0, (0, 100): 4.0, (1, 10): 6.0, (1, 100): 4.0}
    summary = [
        {"run": "a", "seed": seed, "test_images": n, "dual_gap": gap}
        | {"mu_w_ratio": 1 / n, "mu_g_ratio": 2 / n}
        for (seed, n), gap in gaps.items()
    ]
    directions = [
        {"run": "a", "seed": seed, "test_images": images, "n": n}
        | {"mu_w": sign / images, "sigma_w": 2.0, "mu_g": sign * 3 / images, "sigma_g": g}
        for seed, sign in ((0, 1), (1, -1))
        for images in (10, 100)
        for n, g in ((1, 6.0), (2, 3.0), (3, 0.0))
    ]
    return material(POINTS, test_images_summary=summary, test_images_directions=directions)


def test_s1_has_the_mean_and_each_realization_against_its_own_last(images):
    drawing = s1.draw(images)
    mean = rows_where(drawing.points, panel="A")
    np.testing.assert_allclose(mean["mean"], [4, 4])
    np.testing.assert_allclose(mean["sd"], [sqrt(8), 0])
    assert drawn_dots(drawing.figure.axes[0]).keys() == {(10, 4), (100, 4)}
    thin = [line.get_ydata().tolist() for line in drawing.figure.axes[1].lines[:2]]
    assert thin == [[0.5, 1], [1.5, 1]]
    assert sorted(drawing.points["relative_gap"].dropna()) == [0.5, 1, 1, 1.5]


@pytest.mark.parametrize(
    ("panel", "quantity", "means"),
    [("A", "mu_w_ratio", [0.05, 0.05, 0.05]), ("B", "mu_g_ratio", [0.05, 0.1])],
)
def test_s2_has_absolute_ratios_of_live_directions(images, panel, quantity, means):
    """Signs of eigenvectors are arbitrary, so opposite means must not cancel."""
    drawing = s2.draw(images)
    points = rows_where(drawing.points, panel=panel, quantity=quantity, test_images=10)
    np.testing.assert_allclose(points["mean"], means)
    ax = drawing.figure.axes["AB".index(panel)]
    (line,) = [line for line in ax.lines if line.get_label() == "10"]
    np.testing.assert_allclose(line.get_ydata(), means)


@pytest.mark.parametrize(("panel", "means"), [("C", [0.1, 0.01]), ("D", [0.2, 0.02])])
def test_s2_has_averages_over_directions(images, panel, means):
    drawing = s2.draw(images)
    np.testing.assert_allclose(rows_where(drawing.points, panel=panel)["mean"], means)
    ax = drawing.figure.axes["ABCD".index(panel)]
    assert drawn_dots(ax).keys() == set(zip((10.0, 100.0), means, strict=True))
