"""Figures that the paper does not have, checked with a pencil."""

import numpy as np
import pytest
from pencil import drawn_dots, material, rows_where

from flatlas.studies.duality import convolution, rescaling


@pytest.fixture
def rescaled():
    """σ_g falls as 1/p, σ_w grows as p; one ΔL_n of p = 2 is off by 1/8 of the largest."""
    rows = [
        {"run": "a", "seed": 0, "factor": p, "n": n, "eigenvalue": 1.0}
        | {
            "sigma_g": g / p,
            "sigma_w": 0.25 * p,
            "gap": g / 8 + (0.0625 if (p, n) == (2, 3) else 0),
        }
        for p in (0.5, 1.0, 2.0)
        for n, g in ((1, 4.0), (2, 2.0), (3, 1.0))
    ]
    return material([("base", "a", {})], rescaled_directions=rows)


def test_rescaling_has_medians_relative_to_the_unscaled_net(rescaled):
    drawing = rescaling.draw(rescaled)
    relative = rows_where(drawing.points, panel="C")
    for quantity, means in (
        ("sigma_g", [2, 1, 0.5]), ("sigma_w", [0.5, 1, 2]), ("gap", [1, 1, 1]),
    ):  # fmt: skip
        np.testing.assert_allclose(rows_where(relative, quantity=quantity)["mean"], means)
    ax = drawing.figure.axes[2]
    assert drawn_dots(ax, "v").keys() == {(0.5, 2), (1, 1), (2, 0.5)}
    assert drawn_dots(ax, "^").keys() == {(0.5, 0.5), (1, 1), (2, 2)}
    assert drawn_dots(ax).keys() == {(0.5, 1), (1, 1), (2, 1)}


def test_convolution_shows_pairs_on_and_off_the_diagonal():
    pairs = [
        {"run": "a", "seed": 0, "loss_gap": gap, "dual_loss_gap": dual, "residual": residual}
        for gap, dual, residual in ((1.0, 1.0, 0.0), (2.0, 1.5, 0.5), (-0.5, 0.0, 1.0))
    ]
    means = [{"run": "a", "seed": 0, "pairwise_gap": 2.5, "dual_gap": 2.0, "residual_loss": 0.75}]
    tables = {"conv1_pairs": pairs, "conv1_summary": means}
    tables |= {"conv2_pairs": pairs, "conv2_summary": means}
    drawing = convolution.draw(material([("cifar_base", "a", {})], **tables))
    first, second, third = drawing.figure.axes
    for ax in (first, second):
        assert drawn_dots(ax).keys() == {(1, 1), (2, 1.5), (-0.5, 0)}
        assert "means: gap 2.5\ndual gap 2\n|difference| 0.75" in [t.get_text() for t in ax.texts]
    residuals = rows_where(drawing.points, panel="C", layer="conv2")
    np.testing.assert_allclose(residuals["residual"], np.linspace(0, 1, 101))
    np.testing.assert_allclose(third.lines[1].get_xdata(), residuals["residual"])
    np.testing.assert_allclose(third.lines[1].get_ydata(), residuals["quantile"])
