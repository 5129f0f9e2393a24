"""Figure S4: Eq. 11 gives the gap that is measured directly, and the test error follows it."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims, ours
from flatlas.claims.conventions import BARELY_OFF, RISING, SMALL
from flatlas.claims.nets import Nets, pooled_nets
from flatlas.evidence.material import DOT, Material
from flatlas.minus import with_minus
from flatlas.plotting.style import Drawing, panels
from flatlas.statistics.correlation import pearson, spearman
from flatlas.statistics.trends import average, pooled
from flatlas.studies.duality.layer import pooled_words
from flatlas.studies.duality.nets import draw_nets, each_once, name_sweeps
from flatlas.studies.duality.realizations import finish

# "Note the training error ε_tr = 0 in the examples shown here". With wrong labels it need not be 0:
# the stopping rule is about the right labels.
RIGHT_LABELS = ("alpha", "batch", "decay", "init", "size", "dropout")
GAPS = ["pairwise_gap", "dual_gap", "mu_gap", "test_error"]


def draw(material: Material) -> Drawing:
    """Both panels, with one dot for each trained net."""
    figure, axes = panels(1, 2, width=3.6, height=3.1)
    nets = each_once(material.measured("hidden_summary"), ["seed"])
    points = nets[[*DOT, "converged", *GAPS]]
    points = points.assign(test_error_percent=100 * points["test_error"])
    _accuracy_panel(axes[0], points)
    _error_panel(axes[1], points)
    name_sweeps(axes[1], points)
    legend = "One dot a trained net, coloured by what is varied. "
    return finish(figure, [points], material, legend)


def _accuracy_panel(ax: Axes, points: pd.DataFrame) -> None:
    """All nets are drawn; the deviation is that of those that met their stopping rule."""
    direct, dual = points["pairwise_gap"], points["dual_gap"]
    ends = [0.95 * min(direct.min(), dual.min()), 1.05 * max(direct.max(), dual.max())]
    ax.plot(ends, ends, color="0.6", lw=1, zorder=0)
    draw_nets(ax, points, "pairwise_gap", "dual_gap")
    ax.set(xlabel=r"$\Delta\tilde L$, measured", ylabel=r"$\sum_n c_n\sigma_{g,n}\sigma_{w,n}$")
    if points["converged"].any():
        deviation = np.median(np.abs(dual / direct - 1)[points["converged"]])
        ax.set_title(f"median deviation {deviation:.1%}", loc="right")


def _error_panel(ax: Axes, points: pd.DataFrame) -> None:
    draw_nets(ax, points, "dual_gap", "test_error_percent")
    ax.set(xlabel=r"$\Delta L$", ylabel="test error (%)")
    solutions = points[points["converged"]]
    if len(solutions) > 2:
        pair = solutions[["dual_gap", "test_error"]].to_numpy(float).T
        r, rho = pearson(*pair), spearman(*pair)
        ax.set_title(with_minus(f"Pearson {r:.2f}, Spearman {rho:.2f}"), loc="right")


def claims(material: Material) -> Claims:
    """The claims about both panels: over nets without wrong labels, and over all."""
    right_labels, every = (pooled_nets(material, of) for of in (RIGHT_LABELS, material.sweeps))
    yield from _pooled(right_labels)
    yield from ours(_pooled(every, "all_"))


def _pooled(nets: Nets, prefix: str = "") -> Claims:
    whose = f"the {pooled_words(nets)}"
    direct, dual, error = (
        nets.read("hidden_summary", column) for column in ("pairwise_gap", "dual_gap", "test_error")
    )
    yield nets.claim(
        f"{prefix}diagonal",
        "ΔL by Eq. 11 equals the pair-wise gap",
        f"relative deviation of ΔL from the gap measured directly, up or down; mean over {whose}",
        BARELY_OFF,
        average,
        np.abs(dual / direct - 1),
    )
    train, test = (nets.read("hidden_summary", name) for name in ("train_loss", "test_loss"))
    yield nets.claim(
        f"{prefix}true_gap",
        "the pair-wise gap approximates the true gap",
        "relative deviation of the pair-wise gap from the test loss less the training loss, up or"
        f" down; mean over {whose}",
        BARELY_OFF,
        average,
        np.abs(direct / (test - train) - 1),
    )
    yield nets.claim(
        f"{prefix}losses",
        "the test loss is much larger than the training loss",
        f"training loss relative to the test loss; mean over {whose}",
        SMALL,
        average,
        train / test,
    )
    yield nets.claim(
        f"{prefix}test_error",
        "the test error is highly correlated with ΔL",
        f"rank correlation of the test error with ΔL over {whose}",
        RISING,
        pooled,
        error,
        dual,
    )
