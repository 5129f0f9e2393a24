"""Panels over the strength of L2: the three norms, the weight norm, the test accuracy."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, Drawing, note, panels, plain_ticks
from flatlas.plotting.trainings import small_print
from flatlas.studies.false_friend.nets import (
    L2,
    NORMS,
    error_bar,
    name_of,
    nets,
    sweeps,
    unsettled,
)

# By how much dots of realizations stand side by side.
ASIDE = 0.06


def draw_grid(material: Material) -> Drawing:
    """A row of panels for each sweep."""
    points = nets(material)
    rows = sweeps(material)
    figure, axes = panels(len(rows), 3)
    for row, sweep in enumerate(rows):
        sharpness, weights, accuracy = axes[3 * row : 3 * row + 3]
        some = points[points["sweep"] == sweep]
        sharpness.set(yscale="log", ylabel="norm of the Hessian", title=name_of(sweep))
        plain_ticks(sharpness.yaxis)
        for name, (symbol, colour, sign) in NORMS.items():
            _line(sharpness, some, name, colour, sign)
            sharpness.plot([], [], f"{sign}-", color=colour, label=symbol)
        _line(weights, some, "weight_norm", BLACK, "o")
        weights.set(ylabel=r"$\|w\|_2$")
        _line(accuracy, some, "accuracy", BLACK, "o")
        accuracy.set(ylabel="test accuracy (%)")
    if rows:
        axes[0].legend(loc="best")
    said = "Lines: means over realizations, dots: each; bars: standard errors. " + unsettled(points)
    note(figure, said + small_print(material))
    return Drawing(figure, points)


def _line(ax: Axes, some: pd.DataFrame, column: str, colour: str, sign: str) -> None:
    """At places side by side: 0 has none on a logarithmic axis."""
    strengths = sorted(some[L2].dropna().unique()) if L2 in some else []
    ax.set_xticks(range(len(strengths)), [_short(strength) for strength in strengths])
    ax.set_xlabel("L2")
    seeds = sorted(some["seed"].unique())
    for at, strength in enumerate(strengths):
        for _, net in some[some[L2] == strength].iterrows():
            x = at + ASIDE * (seeds.index(net["seed"]) - (len(seeds) - 1) / 2)
            face = "white" if net["settled"] is False and column == "spectral_norm" else colour
            error_bar(ax, x, net, column, colour)
            ax.plot(x, net[column], sign, mfc=face, mec=colour, ms=3.5, alpha=0.8)
    means = [some.loc[some[L2] == strength, column].astype(float).mean() for strength in strengths]
    ax.plot(range(len(means)), means, "-", color=colour, lw=1)


def _short(strength: float) -> str:
    """5e-4, which leaves room for its neighbours."""
    if not strength:
        return "0"
    return np.format_float_scientific(strength, trim="-", exp_digits=1)
