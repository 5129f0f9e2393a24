"""The small print under a figure."""

import pytest
from matplotlib import pyplot

from flatlas.figures.style import note


@pytest.mark.parametrize("before", range(30, 50))
def test_no_line_ends_within_a_formula(before):
    """Half of one is no formula, and would be printed as it was typed."""
    figure = pyplot.figure(figsize=(3, 2))
    text = f"{'a' * (before - 10)} {'b' * 8} with $s = 1 + x$ and $y$ in the end"
    note(figure, text)
    lines = figure.get_supxlabel().split("\n")
    assert " ".join(lines) == text
    assert len(lines) > 1
    assert all(line.count("$") % 2 == 0 for line in lines)
    pyplot.close(figure)
