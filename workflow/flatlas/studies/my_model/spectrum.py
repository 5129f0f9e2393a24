"""The curvature and the gap of the user's networks, direction by direction."""

from collections.abc import Callable

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import NET, Material
from flatlas.plotting.style import Drawing, note, panels, plain_ticks, shades
from flatlas.plotting.trainings import small_print
from flatlas.studies.my_model.numbers import WEIGHTS


def draw(material: Material) -> Drawing:
    """A panel for each of the two measures that were taken, a line for each network."""
    parts = {name: part for name, part in PARTS.items() if name in material.tables}
    names = [str(name) for name in material.trainings[WEIGHTS].unique()]
    colours = dict(zip(names, shades(len(names)), strict=True))
    figure, axes = panels(1, len(parts), width=3.6, height=2.9)
    points = []
    for ax, (name, part) in zip(axes, parts.items(), strict=True):
        rows = part(ax, material.measured(name))
        for (weights, _), net in rows.groupby([WEIGHTS, "seed"], sort=False):
            style = ".-" if net["converged"].all() else ".--"
            ax.plot(net["n"], net["value"], style, color=colours[str(weights)])
        points.append(rows.assign(table=name))
    if len(names) > 1:
        for name, colour in colours.items():
            axes[0].plot([], [], ".-", color=colour, label=name)
        figure.legend(loc="outside upper center", ncols=2)
    note(figure, small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))


def _eigenvalues(ax: Axes, rows: pd.DataFrame) -> pd.DataFrame:
    ax.set(xlabel="rank", ylabel="eigenvalue of the Hessian")
    ax.axhline(0, color="0.6", lw=0.8)
    return rows[[WEIGHTS, "seed", "converged"]].assign(n=rows["rank"], value=rows["eigenvalue"])


def _gap(ax: Axes, rows: pd.DataFrame) -> pd.DataFrame:
    """The gap of the first n directions, the sharpest first."""
    ax.set(xscale="log", xlabel="$n$", ylabel=r"$\Delta L$ of the $n$ sharpest directions")
    plain_ticks(ax.xaxis, (1.0, 3.0))
    ax.axhline(0, color="0.6", lw=0.8)
    rows = rows.sort_values("n", kind="stable")
    summed = rows.groupby(NET)["gap"].cumsum()
    return rows[[WEIGHTS, "seed", "converged"]].assign(n=rows["n"], value=summed)


PARTS: dict[str, Callable[[Axes, pd.DataFrame], pd.DataFrame]] = {
    "hessian_eigenvalues": _eigenvalues,
    "duality_directions": _gap,
}
