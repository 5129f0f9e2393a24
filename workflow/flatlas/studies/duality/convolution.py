"""Not in the paper: the dual weights of convolution layers, which are but approximately dual."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLUE, RED, Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.studies.duality.dots import draw_dots

LAYERS = {"conv1": BLUE, "conv2": RED}
PAIR = ["loss_gap", "dual_loss_gap", "residual"]
NET = ["pairwise_gap", "dual_gap", "residual_loss"]
# So many pairs of each net are drawn; losses below the first are as good as zero.
SHOWN, SMALL = 200, 0.1
QUANTILES = np.linspace(0, 1, 101)


def draw(material: Material) -> Drawing:
    """A, B: pair by pair, a layer each. C: how the residuals are distributed."""
    figure, axes = panels(1, 3, width=3.2, height=3.2)
    points: list[pd.DataFrame] = []
    for ax, letter, (layer, colour) in zip(axes, "AB", LAYERS.items(), strict=False):
        pairs = material.measured(f"{layer}_pairs", PAIR)
        first = pairs.groupby(["run", "seed"]).cumcount() < SHOWN
        shown = pairs[first][["run", "seed", "converged", *PAIR]]
        means = material.measured(f"{layer}_summary", NET)[NET].mean().to_frame().T
        _pairs_panel(ax, shown, colour)
        _tell_means(ax, layer, means)
        residuals = quantiles(pairs["residual"])
        axes[2].plot(residuals["residual"], residuals["quantile"], color=colour, label=layer)
        tables = {letter: pd.concat([shown, means]), "C": residuals}
        points += [table.assign(panel=panel, layer=layer) for panel, table in tables.items()]
    axes[2].set(
        xlabel=r"residual $\|z^*-z^\prime\|\,/\,\|z-z^\prime\|$", ylabel="share of pairs below"
    )
    axes[2].set(xlim=(0, None), ylim=(0, 1))
    axes[2].legend(loc="upper left")
    note(
        figure,
        f"A, B: the first {SHOWN} pairs of each net; linear within ±{SMALL:g}, logarithmic "
        "beyond. " + small_print(material),
    )
    return Drawing(figure, pd.concat(points, ignore_index=True))


def quantiles(residuals: pd.Series) -> pd.DataFrame:
    """The distribution over all pairs, in steps of a hundredth."""
    known = residuals.dropna()
    at = np.quantile(known, QUANTILES) if len(known) else np.full(len(QUANTILES), np.nan)
    return pd.DataFrame({"quantile": QUANTILES, "residual": at})


def _pairs_panel(ax: Axes, shown: pd.DataFrame, colour: str) -> None:
    ax.axline((0, 0), slope=1, color="0.6", lw=1, zorder=0)
    x, y, converged = (shown[column] for column in ("loss_gap", "dual_loss_gap", "converged"))
    draw_dots(ax, x, y, converged, colour, size=2.5, many=True)
    both = shown[["loss_gap", "dual_loss_gap"]]
    if len(shown):
        low, high = 1.5 * min(both.min().min(), -SMALL), 2 * max(both.max().max(), SMALL)
        ax.set(xlim=(low, high), ylim=(low, high))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_tick_params(labelsize=8)
    ax.set_xscale("symlog", linthresh=SMALL)
    ax.set_yscale("symlog", linthresh=SMALL)
    ax.set(xlabel=r"$l(x^\prime,w)-l(x,w)$", ylabel=r"$l(x,w+\Delta w)-l(x,w)$")


def _tell_means(ax: Axes, layer: str, means: pd.DataFrame) -> None:
    direct, dual, off = means.iloc[0]
    ax.set_title(layer, loc="right")
    if np.isfinite(direct):
        text = f"means: gap {direct:.3g}\ndual gap {dual:.3g}\n|difference| {off:.3g}"
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
        ax.text(0.03, 0.97, text, transform=ax.transAxes, va="top", fontsize=7.5, bbox=box)


def claims(material: Material):
    """See there."""
    from flatlas.studies.duality.convolution_claims import judge

    return judge(material)
