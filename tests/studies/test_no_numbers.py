"""Figures of nets that are all but diverged, of which measures are NaN or infinite."""

import made_up
import numpy as np
import pytest
from pixels import laid_out_in_pixels
from test_every_figure import CASES

# Each fails in its own way on axes that need numbers.
FIGURES = (
    *("annealing_fig2", "annealing_fig4", "annealing_s2", "duality_fig3", "duality_s2"),
    *("duality_s3", "duality_s10", "duality_rescaling", "duality_convolution"),
    *("false_friend_fig2", "false_friend_fig6", "mystery_fig2"),
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:.*:UserWarning")
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_of_measures_without_a_number(name, value, monkeypatch):
    drawn = made_up.drawn

    def without_a_number(rng, column, kind, count):
        return [value] * count if kind is float else drawn(rng, column, kind, count)

    monkeypatch.setattr(made_up, "drawn", without_a_number)
    (case,) = [one for one in CASES["demo"] if one.name == name]
    laid_out_in_pixels(case.draw(made_up.material(case.nets)).figure)
