"""Figure 2: the regret in ever smaller balls, beside its formula."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLUE, GREY, ORANGE, Drawing, note, panels
from flatlas.plotting.trainings import small_print

NET = ["run", "seed"]
COLUMNS = ["epsilon", "true_regret", "formula", "ratio", "residual", "iterations", "converged"]


def draw(material: Material) -> Drawing:
    """A: the regret over ε, and its limit. B: their ratio; hollow: searches that go on."""
    table = material.tables["true_regret_summary"]
    points = table.reindex(columns=["sweep", *NET, *COLUMNS]).sort_values([*NET, "epsilon"])
    points = points.assign(over_epsilon=points["true_regret"] / points["epsilon"])
    figure, (left, right) = panels(1, 2)
    for _, net in points.groupby(NET, sort=False):
        limit = net["formula"] / net["epsilon"]
        left.plot(net["epsilon"], limit, "-", color=ORANGE, lw=1)
        _dots(left, net, "over_epsilon")
        _dots(right, net, "ratio")
    left.plot([], [], "o-", color=BLUE, ms=3.5, label=r"true, $R/\epsilon$")
    left.plot([], [], "-", color=ORANGE, lw=1, label=r"$\|g_2\|(1-\cos(g_1,g_2))$")
    left.legend(loc="best")
    left.set(xscale="log", xlabel=r"radius $\epsilon$", ylabel=r"regret over $\epsilon$")
    left.set_ylim(bottom=0)
    right.axhline(1, color=GREY, ls="--", lw=0.8, zorder=0)
    right.set(xscale="log", xlabel=r"radius $\epsilon$", ylabel="true over formula")
    said = "A line a realization, of means over pairs of minibatches. Hollow: a search in the ball "
    note(figure, said + "has not converged. " + small_print(material))
    return Drawing(figure, points.reset_index(drop=True))


def _dots(ax: Axes, net: pd.DataFrame, column: str) -> None:
    ax.plot(net["epsilon"], net[column], "-", color=BLUE, lw=1)
    for settled, face in ((True, BLUE), (False, "white")):
        some = net[net["converged"].astype(bool) == settled]
        ax.plot(some["epsilon"], some[column], "o", mfc=face, mec=BLUE, ms=4, zorder=3)
