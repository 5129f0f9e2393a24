"""Figure 2: the regret in smaller and smaller balls, compared with the formula for its limit."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims, ours
from flatlas.claims.conventions import BARELY, JUMPS, LIMIT, RISING
from flatlas.claims.nets import Nets
from flatlas.evidence.material import DOT, NET, ZERO_ERROR, Material, at_moment
from flatlas.plotting.style import BLUE, GREY, ORANGE, Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.statistics.correlation import spearman

COLUMNS = ["epsilon", "true_regret", "formula", "ratio", "residual", "iterations", "converged"]
TABLE = "true_regret_summary"
# A trend needs this many balls in which all searches converged.
ENOUGH = 3


def draw(material: Material) -> Drawing:
    """A: the regret over ε, and its limit. B: their ratio; hollow where a search did not end."""
    points = at_moment(material.tables[TABLE], ZERO_ERROR)[[*DOT, *COLUMNS]]
    points = points.sort_values([*NET, "epsilon"]).assign(
        over_epsilon=points["true_regret"] / points["epsilon"]
    )
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
    text = "One line for each realization: means over pairs of minibatches. Hollow: a search in"
    note(figure, f"{text} the ball did not converge. {small_print(material)}")
    return Drawing(figure, points.reset_index(drop=True))


def _dots(ax: Axes, net: pd.DataFrame, column: str) -> None:
    ax.plot(net["epsilon"], net[column], "-", color=BLUE, lw=1)
    for settled, face in ((True, BLUE), (False, "white")):
        some = net[net["converged"] == settled]
        ax.plot(some["epsilon"], some[column], "o", mfc=face, mec=BLUE, ms=4, zorder=3)


def claims(material: Material) -> Claims:
    """The claims about the formula and about its two factors."""
    nets = Nets(material, "solution")
    yield from _limit(material, nets)
    yield from _factors(nets)


def _limit(material: Material, nets: Nets) -> Claims:
    """The claims that the ratio is 1 in the smallest ball, and approaches 1 as balls shrink."""
    radii = np.array(sorted(material.tables[TABLE]["epsilon"].unique()))
    ratio, settled = (
        nets.read_of_run(TABLE, name, "epsilon", at=ZERO_ERROR) for name in ("ratio", "converged")
    )
    off = ratio - 1
    # Beyond a ball with a search that did not converge, the trend is unknown.
    known = np.logical_and.accumulate(settled == 1, axis=-1)
    enough = known.sum(-1, keepdims=True) >= ENOUGH
    distance = np.where(known & enough, np.abs(off), np.nan)
    yield nets.mean_claim(
        "limit",
        "as ε → 0, R/ε → ‖g₂‖ (1 − cos(g₁, g₂))",
        "true regret over the formula, less 1, in the smallest ball",
        LIMIT,
        off[:, 0] if off.size else off,
        settled=(settled[:, 0] if settled.size else settled,),
    )
    yield nets.mean_claim(
        "approach",
        "the smaller the ball, the better the formula",
        "rank correlation with ε of how far the ratio is from 1, over the balls up to which"
        f" all searches converged, if these are {ENOUGH} or more",
        RISING,
        spearman(radii, distance) if distance.size else distance,
    )


def _factors(nets: Nets) -> Claims:
    """The claims that the regret is the mean norm, and that this is not the root mean square."""
    regret, norm, root = (
        nets.read_of_run("regret_summary", column, at=ZERO_ERROR)
        for column in ("regret", "norm", "root_mean_square")
    )
    yield nets.mean_claim(
        "cosine",
        "the cosine term is mostly 1, so the regret is E‖g‖",
        "R/ε over E‖g‖, less 1",
        BARELY,
        regret / norm - 1,
    )
    # Jensen's inequality says that E‖g‖ is less, so the question is by how much.
    size = nets.mean_claim(
        "jensen",
        "E‖g‖ is less than √E‖g‖² by more than a tenth",
        "1 less E‖g‖ over √E‖g‖²",
        JUMPS,
        1 - norm / root,
    )
    yield from ours([size])
