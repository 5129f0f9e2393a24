"""Figure S4: the gap by Eq. 11 against the direct gap, and the test error against the gap."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy import stats

from flatlas.figures.duality.sweeps import small_print
from flatlas.figures.style import BLUE, Drawing, note, panels
from flatlas.store.material import Material

NET = ["pairwise_gap", "dual_gap", "mu_gap", "test_error"]


def draw(material: Material) -> Drawing:
    """Both panels, one dot a trained net."""
    figure, axes = panels(1, 2, width=3.4, height=3.1)
    nets = material.measured("hidden_summary", NET).drop_duplicates(["run", "seed"])
    points = nets[["run", "seed", "converged", *NET]]
    _accuracy_panel(axes[0], points)
    _error_panel(axes[1], points)
    note(figure, "One dot a trained net. " + small_print(material))
    return Drawing(figure, points)


def _accuracy_panel(ax: Axes, points: pd.DataFrame) -> None:
    """Statistics are those of solutions; nets that met no stopping rule are drawn all the same."""
    direct, dual = points["pairwise_gap"], points["dual_gap"]
    ends = [0.95 * min(direct.min(), dual.min()), 1.05 * max(direct.max(), dual.max())]
    ax.plot(ends, ends, color="0.6", lw=1, zorder=0)
    _dots(ax, direct, dual, points["converged"])
    ax.set(xlabel=r"$\Delta\tilde L$, measured", ylabel=r"$\sum_n c_n\sigma_{g,n}\sigma_{w,n}$")
    if points["converged"].any():
        deviation = np.median(np.abs(dual / direct - 1)[points["converged"]])
        ax.set_title(f"median deviation {deviation:.1%}", loc="right")


def _error_panel(ax: Axes, points: pd.DataFrame) -> None:
    gap, error = points["dual_gap"], 100 * points["test_error"]
    _dots(ax, gap, error, points["converged"])
    ax.set(xlabel=r"$\Delta L$", ylabel="test error (%)")
    solutions = points[points["converged"]]
    if len(solutions) > 2:
        pair = solutions["dual_gap"], solutions["test_error"]
        r, rho = stats.pearsonr(*pair).statistic, stats.spearmanr(*pair).statistic
        ax.set_title(f"Pearson {r:.2f}, Spearman {rho:.2f}", loc="right")


def _dots(ax: Axes, x: pd.Series, y: pd.Series, converged: pd.Series) -> None:
    """One dot a net, hollow where the training met no stopping rule."""
    for chosen, face in ((converged, BLUE), (~converged, "white")):
        ax.plot(x[chosen], y[chosen], "o", ms=4, color=BLUE, mfc=face, alpha=0.7)
