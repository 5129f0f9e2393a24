"""Drawings of `false_friend` with more realizations or strengths of L2 than the study has."""

import numpy as np
import pytest
from declared import RIGHT, figure_of
from false_friend_worlds import L2, world

from flatlas.studies.false_friend.norms import TABLE


def panels(figure, seeds=5):
    """The panels of a figure with exact norms."""
    material = world(RIGHT, figure, seeds)
    exact = material.tables[TABLE].assign(trace_error=0.0, frobenius_error=0.0)
    return figure_of("false_friend", figure).draw(material.with_table(TABLE, exact)).figure.axes


@pytest.mark.parametrize("seeds", [1, 3, 20])
def test_dots_stay_near_their_strength_of_l2(seeds):
    accuracy = panels("fig3", seeds)[2]
    dots = np.concatenate(
        [line.get_xdata() for line in accuracy.lines if len(line.get_xdata()) == 1]
    )
    assert len(dots) == 4 * seeds
    assert np.abs(dots - dots.round()).max() <= 0.25
    assert len(np.unique(dots)) == len(dots)


def test_each_strength_of_l2_has_its_own_line():
    lines = panels("fig1")[0].get_legend().get_lines()
    assert [line.get_label() for line in lines] == [f"L2 {strength:g}" for strength in L2]
    assert len({line.get_linestyle() for line in lines}) == len(L2)
