"""Not in the paper: how well approximate dual weights of convolution layers give the gap."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, between, ours
from flatlas.claims.nets import Nets
from flatlas.evidence.material import NET, Material
from flatlas.plotting.style import BLUE, RED, Drawing, panels
from flatlas.statistics.trends import ratio
from flatlas.studies.duality.realizations import draw_dots, finish

LAYERS = {"conv1": ("first", BLUE), "conv2": ("second", RED)}
PAIR = ["loss_gap", "dual_loss_gap", "residual"]
MEANS = ["pairwise_gap", "dual_gap", "residual_loss"]
# How many pairs of each net are drawn.
SHOWN = 200
# Axes are linear up to this loss, and logarithmic beyond.
SMALL = 0.1
# The distribution over all pairs is drawn in steps of a hundredth.
QUANTILES = np.linspace(0, 1, 101)


def draw(material: Material) -> Drawing:
    """A, B: the pairs, a panel for each layer. C: the distribution of the residuals."""
    figure, axes = panels(1, 3, width=3.2, height=3.2)
    points: list[pd.DataFrame] = []
    for ax, letter, (layer, (_, colour)) in zip(axes, "AB", LAYERS.items(), strict=False):
        pairs = material.measured(f"{layer}_pairs")
        first = pairs.groupby(NET).cumcount() < SHOWN
        shown = pairs[first][[*NET, "converged", *PAIR]]
        means = material.measured(f"{layer}_summary")[MEANS].mean().to_frame().T
        _pairs_panel(ax, shown, colour)
        _name_means(ax, layer, means)
        known = pairs["residual"].dropna()
        at = np.quantile(known, QUANTILES) if len(known) else np.nan
        residuals = pd.DataFrame({"quantile": QUANTILES, "residual": at})
        axes[2].plot(residuals["residual"], residuals["quantile"], color=colour, label=layer)
        tables = {letter: pd.concat([shown, means]), "C": residuals}
        points += [table.assign(panel=panel, layer=layer) for panel, table in tables.items()]
    label = r"residual $\|z^*-z^\prime\|\,/\,\|z-z^\prime\|$"
    axes[2].set(xlabel=label, ylabel="share of pairs below", xlim=(0, None), ylim=(0, 1))
    axes[2].legend(loc="upper left")
    axis = f"linear within ±{SMALL:g}, logarithmic beyond. "
    return finish(figure, points, material, f"A, B: the first {SHOWN} pairs of each net; {axis}")


def _pairs_panel(ax: Axes, shown: pd.DataFrame, colour: str) -> None:
    ax.axline((0, 0), slope=1, color="0.6", lw=1, zorder=0)
    draw_dots(ax, shown, "loss_gap", "dual_loss_gap", colour, size=2.5, many=True)
    both = shown[["loss_gap", "dual_loss_gap"]].to_numpy()
    if len(both):
        low, high = 1.5 * min(np.nanmin(both), -SMALL), 2 * max(np.nanmax(both), SMALL)
        ax.set(xlim=(low, high), ylim=(low, high))
    ax.tick_params(labelsize=8)
    ax.set_xscale("symlog", linthresh=SMALL)
    ax.set_yscale("symlog", linthresh=SMALL)
    ax.set(xlabel=r"$l(x^\prime,w)-l(x,w)$", ylabel=r"$l(x,w+\Delta w)-l(x,w)$")


def _name_means(ax: Axes, layer: str, means: pd.DataFrame) -> None:
    direct, dual, off = means.iloc[0]
    ax.set_title(layer, loc="right")
    if np.isfinite(direct):
        text = f"means: gap {direct:.3g}\ndual gap {dual:.3g}\n|difference| {off:.3g}"
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
        ax.text(0.03, 0.97, text, transform=ax.transAxes, va="top", fontsize=7.5, bbox=box)


def claims(material: Material) -> list[Claim]:
    """A question about each layer: the paper's discussion leaves convolution layers open."""
    nets = Nets(material, "cifar_base")
    return ours(
        nets.claim(
            layer,
            f"the least-squares dual weights of the {place} convolution layer give the gap",
            "mean l(x, w + Δw) − l(x, w) over the mean l(x′, w) − l(x, w)",
            between(0.9, 1.1),
            ratio,
            nets.read_of_run(f"{layer}_summary", "dual_gap"),
            nets.read_of_run(f"{layer}_summary", "pairwise_gap"),
        )
        for layer, (place, _) in LAYERS.items()
    )
