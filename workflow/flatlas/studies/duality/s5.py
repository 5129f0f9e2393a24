"""Figure S5: sharpness from dual weights that are scaled down."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.studies.duality.dots import draw_dots, draw_means
from flatlas.studies.duality.ranks import picked
from flatlas.studies.duality.realizations import LEGEND, over_seeds
from flatlas.studies.duality.swept import read
from flatlas.plotting.style import BLACK, Drawing, note, panels, shades
from flatlas.plotting.trainings import small_print
from flatlas.statistics.round_off import ROUND_OFF

DIRECTION = ["scale", "n", "eigenvalue", "sigma_g"]


def draw(material: Material) -> Drawing:
    """A: a dot a direction, coloured by the scale. B: the total."""
    figure, axes = panels(1, 2, width=3.4, height=3.0)
    table = picked(material.measured("scaled_directions", DIRECTION))
    largest = table.groupby(["run", "seed", "scale"])["eigenvalue"].transform("max")
    live = (table["eigenvalue"] > ROUND_OFF * largest) & (table["sigma_g"] > 0)
    dots = table[live][["run", "seed", "converged", *DIRECTION]]
    dots = dots.assign(panel="A", sigma_g_squared=dots["sigma_g"] ** 2)
    totals = over_seeds(material.measured("scaled_summary", ["scale", "T_g"]), ["scale"], ["T_g"])
    _directions_panel(axes[0], dots)
    _totals_panel(axes[1], totals)
    note(figure, "A: directions at ten ranks $n$ a decade. " + LEGEND + small_print(material))
    return Drawing(figure, pd.concat([dots, totals.assign(panel="B")], ignore_index=True))


def _directions_panel(ax: Axes, dots: pd.DataFrame) -> None:
    scales = sorted(dots["scale"].unique())
    for scale, colour in zip(scales, shades(len(scales)), strict=True):
        chosen = dots[dots["scale"] == scale]
        x, y, converged = (chosen[c] for c in ("eigenvalue", "sigma_g_squared", "converged"))
        draw_dots(ax, x, y, converged, colour, size=2.5, many=True)
        ax.plot([], [], "o", color=colour, label=read(scale))
    ax.set(xscale="log", yscale="log", xlabel="$H_n$", ylabel=r"$\sigma_{g,n}^2$")
    if scales:
        ax.legend(title="$s_w$", loc="lower right", handletextpad=0)


def _totals_panel(ax: Axes, totals: pd.DataFrame) -> None:
    ax.plot(totals["scale"], totals["mean"], "-", color=BLACK)
    draw_means(ax, totals["scale"], totals, BLACK)
    ax.set(xlabel="$s_w$", ylabel=r"$T_g=\sum_n\sigma_{g,n}^2$")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
