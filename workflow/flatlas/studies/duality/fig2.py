"""Figure 2: σ_g measures sharpness, σ_w the size of the solution, over every run of the study."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, Claims, ours
from flatlas.claims.conventions import BARELY, MORE, RISING
from flatlas.claims.nets import Nets, pooled_nets
from flatlas.evidence.material import DOT, NET, Material
from flatlas.plotting.style import Drawing, make_room, panels, plain_ticks
from flatlas.statistics.correlation import spearman
from flatlas.statistics.joint import Joint
from flatlas.statistics.means import mean, smallest
from flatlas.statistics.round_off import above_round_off
from flatlas.statistics.trends import average, pooled
from flatlas.studies.duality.directions import live
from flatlas.studies.duality.layer import ENDS, Layer, pooled_words
from flatlas.studies.duality.nets import draw_nets, each_once, name_sweeps, styles
from flatlas.studies.duality.realizations import finish
from flatlas.studies.duality.spectra import picked

DIRECTION = ["n", "eigenvalue", "sigma_g"]
SIZES = ["T_g", "T_h", "T_w", "layer_norm"]
# In a decade of H_n with fewer directions, a net does not show the trend.
ENOUGH = 10
# The paper's Fig. 2A is of "all hyperparameters (learning rate α and batch size B in SGD; decay
# rate β and initial weight scale s) and sample size (N)".
NAMED = ("alpha", "batch", "decay", "init", "size")
# Sweeps in which the size grows, and sweeps in which it is flat.
GROWING, FLAT = ("decay", "init"), ("alpha", "batch")


def draw(material: Material) -> Drawing:
    """A: a dot for each direction. B and the inset: a dot for each net."""
    figure, axes = panels(1, 2, width=4.2, height=3.6)
    directions, nets = _sharp_directions(material), _sizes(material)
    _sharpness_panel(axes[0], directions)
    _traces_inset(axes[0], nets)
    draw_nets(axes[1], nets, "layer_norm", "T_w")
    # A net that met no stopping rule may have a T_w a hundred times that of the others.
    axes[1].set_yscale("log")
    axes[1].set(xlabel=r"$\|w\|_2$ of the layer", ylabel=r"$T_w=\sum_n\sigma_{w,n}^2$")
    name_sweeps(axes[1], nets)
    legend = "Colours: what is varied. A: directions at ten ranks $n$ a decade; "
    dots = "inset and B: one dot a trained net. "
    return finish(figure, [directions, nets], material, legend + dots)


def _sharp_directions(material: Material) -> pd.DataFrame:
    """σ_g and H_n at some ranks of every net, where both are above round-off."""
    table = above_round_off(picked(material.measured("hidden_directions")), "eigenvalue", NET)
    once = each_once(table[table["sigma_g"] > 0], ["seed", "n"])
    points = once[[*DOT, "converged", *DIRECTION]]
    return points.assign(panel="A", sigma_g_squared=points["sigma_g"] ** 2)


def _sizes(material: Material) -> pd.DataFrame:
    once = each_once(material.measured("hidden_summary"), ["seed"])
    return once[[*DOT, "converged", *SIZES]].assign(panel="B")


def _sharpness_panel(ax: Axes, points: pd.DataFrame) -> None:
    ax.set(xscale="log", yscale="log", xlabel="$H_n$", ylabel=r"$\sigma_{g,n}^2$")
    if points.empty:
        return
    # Shuffled, in the same way each time: otherwise sweeps would cover each other.
    mixed = points.sample(frac=1, random_state=0)
    how = styles(mixed["sweep"])
    colours = [how[sweep].colour for sweep in mixed["sweep"]]
    ax.scatter(
        mixed["eigenvalue"], mixed["sigma_g_squared"], s=4, lw=0.4, edgecolors=colours,
        c=list(np.where(mixed["converged"], colours, "white")), rasterized=True,
    )  # fmt: skip
    # For the inset.
    make_room(ax, below=0.4)


def _traces_inset(ax: Axes, nets: pd.DataFrame) -> None:
    inset = ax.inset_axes((0.69, 0.13, 0.3, 0.27))
    inset.set(xscale="log", yscale="log")
    draw_nets(inset, nets, "T_h", "T_g", size=2)
    inset.set_xlabel("$T_h$", fontsize=8, labelpad=0)
    inset.set_ylabel("$T_g$", fontsize=8, labelpad=0)
    for axis in (inset.xaxis, inset.yaxis) if len(nets) else ():
        low, high = axis.get_view_interval()
        # Over many decades the labels would overlap.
        plain_ticks(axis, (1.0, 3.0) if high < 100 * low else (1.0,))
    inset.tick_params(labelsize=6)


def claims(material: Material) -> Claims:
    """The claims about panel A and its inset, and about panel B by sweep."""
    nets = pooled_nets(material, NAMED)
    yield from _sharpness(nets)
    yield _size(nets)
    yield from _size_by_sweep(material)
    yield from ours(_sharpness(pooled_nets(material, material.sweeps), "all_"))


def _sharpness(nets: Nets, prefix: str = "") -> Claims:
    whose = f"all {pooled_words(nets)}"
    curvature = live(nets.read("hidden_directions", "eigenvalue", "n"))
    variance = nets.read("hidden_directions", "sigma_g", "n") ** 2
    yield nets.claim(
        f"{prefix}monotone",
        "σ²_g,n grows monotonically with H_n",
        "rank correlation of σ²_g,n with H_n over the directions with H_n above round-off; mean"
        f" over {whose}",
        RISING,
        average,
        spearman(curvature, variance),
    )
    yield nets.claim(
        f"{prefix}every_decade",
        "over the whole range of H_n, σ²_g,n is larger where H_n is",
        "the same within each decade of H_n in which nets of every realization have 10 directions"
        f" or more; the lowest of these decades, over {whose}",
        MORE,
        Joint(mean, smallest),
        _by_decade(curvature, variance),
    )
    yield nets.claim(
        f"{prefix}traces",
        "T_g is highly correlated with T_h",
        f"rank correlation of T_g with T_h over {whose}",
        RISING,
        pooled,
        nets.read("hidden_summary", "T_g"),
        nets.read("hidden_summary", "T_h"),
    )


def _by_decade(curvature: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """The correlation in each decade that all realizations have, as (realizations, decades)."""
    with_nets = np.isfinite(curvature).any((1, 2)).sum()
    decade = np.floor(np.log10(curvature))
    found = []
    for power in np.unique(decade[np.isfinite(decade)]):
        inside = np.where(decade == power, curvature, np.nan)
        enough = np.isfinite(inside).sum(-1) >= ENOUGH
        within = mean(np.where(enough, spearman(inside, variance), np.nan), -1)
        if np.isfinite(within).sum() == with_nets:
            found.append(within)
    return np.stack(found, axis=-1) if found else np.empty((len(curvature), 0))


def _size(nets: Nets) -> Claim:
    return nets.claim(
        "size",
        "T_w scales with ‖w‖₂ in all cases",
        f"rank correlation of T_w with the layer's ‖w‖₂ over all {pooled_words(nets)}",
        RISING,
        pooled,
        nets.read("hidden_summary", "T_w"),
        nets.read("hidden_summary", "layer_norm"),
    )


def _size_by_sweep(material: Material) -> Claims:
    for name in GROWING:
        layer = Layer(material, name)
        yield layer.sweep.claim(
            f"{name}_size",
            f"T_w grows with ‖w‖₂ when {layer.symbol} varies",
            "rank correlation of T_w with the layer's ‖w‖₂ over the nets of the sweep",
            RISING,
            pooled,
            layer.net("T_w"),
            layer.net("layer_norm"),
        )
    for name in FLAT:
        layer = Layer(material, name)
        for column, what in (("T_w", "T_w"), ("layer_norm", "‖w‖₂")):
            says = f"{what} is flat when {layer.symbol} varies"
            how = f"mean {what} {ENDS}"
            yield layer.changes(f"{name}_{column}", says, how, BARELY, layer.net(column))
