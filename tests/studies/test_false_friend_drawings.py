"""Drawings of `false_friend` that depend on the number of realizations."""

import numpy as np
import pytest
from declared import RIGHT, figure_of
from false_friend_worlds import world

from flatlas.studies.false_friend.norms import TABLE


@pytest.mark.parametrize("seeds", [1, 3, 20])
def test_dots_stay_near_their_strength_of_l2(seeds):
    material = world(RIGHT, "fig3", seeds)
    exact = material.tables[TABLE].assign(trace_error=0.0, frobenius_error=0.0)
    drawing = figure_of("false_friend", "fig3").draw(material.with_table(TABLE, exact))
    accuracy = drawing.figure.axes[2]
    dots = np.concatenate(
        [line.get_xdata() for line in accuracy.lines if len(line.get_xdata()) == 1]
    )
    assert len(dots) == 4 * seeds
    assert np.abs(dots - dots.round()).max() <= 0.25
    assert len(np.unique(dots)) == len(dots)
