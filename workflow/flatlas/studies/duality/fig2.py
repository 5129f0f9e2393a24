"""Figure 2: what the two determinants measure, over every run of the study."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.studies.duality.nets import draw_nets, each_once, look, name_sweeps
from flatlas.studies.duality.ranks import picked
from flatlas.plotting.style import Drawing, note, panels, plain_ticks
from flatlas.plotting.trainings import small_print
from flatlas.statistics.round_off import ROUND_OFF

DIRECTION = ["n", "eigenvalue", "sigma_g"]
NET = ["T_g", "T_h", "T_w", "layer_norm"]


def draw(material: Material) -> Drawing:
    """A: a dot a direction, B and the inset: a dot a net."""
    figure, axes = panels(1, 2, width=4.2, height=3.6)
    directions, nets = sharpness(material), size(material)
    _sharpness_panel(axes[0], directions)
    _traces_inset(axes[0], nets)
    draw_nets(axes[1], nets, "layer_norm", "T_w")
    axes[1].set(xlabel=r"$\|w\|_2$ of the layer", ylabel=r"$T_w=\sum_n\sigma_{w,n}^2$")
    name_sweeps(axes[1], nets)
    note(
        figure,
        "Colours: what is varied. A: directions at ten ranks $n$ a decade; inset and B: "
        "one dot a trained net. " + small_print(material),
    )
    return Drawing(figure, pd.concat([directions, nets], ignore_index=True))


def sharpness(material: Material) -> pd.DataFrame:
    """Sharpness and eigenvalue at some ranks of every net, where both are above round-off."""
    table = picked(material.measured("hidden_directions", DIRECTION))
    largest = table.groupby(["run", "seed"])["eigenvalue"].transform("max")
    live = (table["eigenvalue"] > ROUND_OFF * largest) & (table["sigma_g"] > 0)
    once = each_once(table[live], ["seed", "n"])
    points = once[["sweep", "run", "seed", "converged", *DIRECTION]]
    return points.assign(panel="A", sigma_g_squared=points["sigma_g"] ** 2)


def size(material: Material) -> pd.DataFrame:
    """Norm, dual-weight variance and traces of every net."""
    once = each_once(material.measured("hidden_summary", NET), ["seed"])
    return once[["sweep", "run", "seed", "converged", *NET]].assign(panel="B")


def _sharpness_panel(ax: Axes, points: pd.DataFrame) -> None:
    """Shuffled, always alike, so that no sweep covers another."""
    ax.set(xscale="log", yscale="log", xlabel="$H_n$", ylabel=r"$\sigma_{g,n}^2$")
    if points.empty:
        return
    mixed = points.sample(frac=1, random_state=0)
    colours = [look(sweep).colour for sweep in mixed["sweep"]]
    ax.scatter(
        mixed["eigenvalue"], mixed["sigma_g_squared"], s=4, lw=0.4, edgecolors=colours,
        c=list(np.where(mixed["converged"], colours, "white")), rasterized=True,
    )  # fmt: skip
    # Room for the inset below the dots.
    low, high = np.log10(ax.get_ylim())
    ax.set_ylim(10 ** (low - 0.4 * (high - low)), 10**high)


def _traces_inset(ax: Axes, nets: pd.DataFrame) -> None:
    inset = ax.inset_axes((0.69, 0.13, 0.3, 0.27))
    inset.set(xscale="log", yscale="log")
    draw_nets(inset, nets, "T_h", "T_g", size=2)
    inset.set_xlabel("$T_h$", fontsize=8, labelpad=0)
    inset.set_ylabel("$T_g$", fontsize=8, labelpad=0)
    for axis in (inset.xaxis, inset.yaxis) if len(nets) else ():
        plain_ticks(axis, (1.0, 3.0))
    inset.tick_params(labelsize=6)
