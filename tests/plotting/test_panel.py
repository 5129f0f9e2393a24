"""Axes of numbers that cannot be drawn, and small print."""

import numpy as np
import pytest
from matplotlib import pyplot

from flatlas.plotting.style import Panel, mark_empty, note, panels


@pytest.fixture
def panel():
    figure, (ax,) = panels(1, 1)
    yield ax
    pyplot.close(figure)


@pytest.mark.parametrize("values", [[], [np.nan], [np.inf], [np.nan, 1.0]])
def test_a_panel_without_a_point_says_so(panel, values):
    panel.plot(values, values)
    panel.axhline(1.0)
    mark_empty(panel.figure)
    assert bool(panel.texts) == (1.0 not in values)


DRAWN = {
    "twin": lambda ax: ax.twinx().plot([1, 2], [3, 4]),
    "inset": lambda ax: ax.inset_axes((0, 0, 1, 1)).plot([1, 2], [3, 4]),
    "colour bar of lines": lambda ax: ax.figure.colorbar(ax.contour(np.eye(3))),
    "text": lambda ax: ax.text(0.5, 0.5, "one phase"),
    "no axes": lambda ax: ax.axis("off"),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_a_panel_that_shows_something_is_not_called_empty(panel, draw):
    draw(panel)
    before = [len(ax.texts) for ax in panel.figure.axes]
    mark_empty(panel.figure)
    assert [len(ax.texts) for ax in panel.figure.axes] == before


def test_a_panel_and_its_twin_say_only_once_that_they_are_empty(panel):
    panel.twinx()
    mark_empty(panel.figure)
    assert sum(len(ax.texts) for ax in panel.figure.axes) == 1


def test_insets_and_twins_are_panels(panel):
    assert all(
        isinstance(one, Panel) for one in (panel, panel.twinx(), panel.inset_axes((0, 0, 1, 1)))
    )


@pytest.mark.parametrize("none", [np.nan, np.inf, -np.inf])
def test_a_limit_that_is_no_number_changes_nothing(panel, none):
    panel.set_xlim(1, 3)
    panel.set_xlim(2, none)
    panel.set(ylim=(none, 4))
    panel.set_ylim(bottom=none)
    assert panel.get_xlim() == (2, 3)
    assert panel.get_ylim() == (0, 4)
    panel.set_xlim((5, 6))
    assert panel.get_xlim() == (5, 6)


@pytest.mark.parametrize("values", [[], [np.nan] * 3, [np.inf] * 3, [0.0] * 3, [-1.0, -2.0, -3.0]])
@pytest.mark.parametrize("first", ["data", "scale"])
@pytest.mark.filterwarnings("ignore:Data has no positive values")
def test_a_logarithmic_axis_may_have_no_positive_number(panel, values, first):
    scales = {"xscale": "log", "yscale": "log"}
    if first == "scale":
        panel.set(**scales)
    panel.plot(values, values, "o-")
    # Looks up the limits on the linear scale.
    panel.fill_between(values, values, values)
    panel.get_xlim(), panel.get_ylim()
    panel.set(**scales)
    panel.figure.canvas.draw()
    panel.plot([10, 1000], [0.1, 0.2])
    panel.figure.canvas.draw()
    assert panel.get_xlim()[1] >= 1000 and panel.get_ylim()[0] > 0


def test_a_scale_does_not_change_limits_that_it_can_have(panel):
    panel.plot([2, 300], [0.5, 7])
    panel.set_xlim(2, 300)
    panel.set(xscale="log", yscale="log")
    assert panel.get_xlim() == (2, 300)
    assert 0 < panel.get_ylim()[0] < 0.5


def test_lines_of_small_print_are_as_wide_as_the_figure_whatever_their_formulas():
    """Rendered: the source of a formula is longer than what shows."""
    figure, _ = panels(1, 1, width=6)
    law = r"power laws $\sigma_i^2 \propto F_i^{-\psi}$ of $\mathrm{d} \ln L / \mathrm{d} \ln t$"
    note(
        figure, f"Dashed: {law} over ranks 2 to 200, with intervals over directions and nets. " * 3
    )
    lines = figure.get_supxlabel().split("\n")
    assert all(line.count("$") % 2 == 0 for line in lines)
    renderer = figure.canvas.get_renderer()
    for line in lines[:-1]:
        drawn = figure.text(0, 0, line, fontsize=7.5).get_window_extent(renderer)
        assert 0.7 < drawn.width / figure.bbox.width < 1
