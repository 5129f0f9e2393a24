"""Figure 2: what the two determinants measure, over every run of the study.

Claims: Figure 2: σ_g measures sharpness, σ_w the size of the solution.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY, MORE, RISING
from flatlas.claims.nets import Nets, Sweep
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels, plain_ticks
from flatlas.plotting.trainings import small_print
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean
from flatlas.statistics.round_off import ROUND_OFF
from flatlas.studies.duality.nets import draw_nets, each_once, look, name_sweeps
from flatlas.studies.duality.ranks import picked
from flatlas.studies.duality.spectra import live
from flatlas.studies.duality.strategies import ENDS
from flatlas.studies.duality.swept import SWEPT
from flatlas.studies.duality.trends import change, pooled

DIRECTION = ["n", "eigenvalue", "sigma_g"]
NET = ["T_g", "T_h", "T_w", "layer_norm"]
# A net with fewer directions in a decade of H_n says nothing of the trend there.
ENOUGH = 10
GROWING, FLAT = ("decay", "init"), ("alpha", "batch")


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


def claims(material: Material) -> list[Claim]:
    """Panel A over every net, its inset, and panel B sweep by sweep."""
    return [*_sharpness(Nets(material)), *_size(material)]


def _sharpness(nets: Nets) -> Iterator[Claim]:
    pooled_nets = f"all nets of the sweeps that are drawn ({_sweeps(nets.material)})"
    curvature = live(nets.read("hidden_directions", "eigenvalue", "n"))
    variance = nets.read("hidden_directions", "sigma_g", "n") ** 2
    yield nets.claim(
        "monotone",
        "σ²_g,n grows monotonically with H_n",
        "rank correlation of σ²_g,n with H_n over the directions with H_n above round-off; mean"
        f" over {pooled_nets}",
        RISING,
        lambda within: mean(mean(within), -1),
        spearman(curvature, variance),
    )
    yield nets.claim(
        "every_decade",
        "over the whole range of H_n, σ²_g,n is larger where H_n is",
        "the same within each decade of H_n in which nets have 10 directions or more; the lowest"
        f" of all decades, over {pooled_nets}",
        MORE,
        lambda within: mean(within).min(-1, initial=np.inf),
        _by_decade(curvature, variance),
    )
    yield nets.claim(
        "traces",
        "T_g is highly correlated with T_h",
        f"rank correlation of T_g with T_h over {pooled_nets}",
        RISING,
        pooled,
        nets.read("hidden_summary", "T_g"),
        nets.read("hidden_summary", "T_h"),
    )


def _sweeps(material: Material) -> str:
    return ", ".join(map(str, material.tables["outcomes"]["sweep"].unique()))


def _by_decade(curvature: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """The correlation in each decade that every realization has, as (realizations, decades)."""
    decade = np.floor(np.log10(curvature))
    found = []
    for power in np.unique(decade[np.isfinite(decade)]):
        inside = np.where(decade == power, curvature, np.nan)
        enough = np.isfinite(inside).sum(-1) >= ENOUGH
        within = mean(np.where(enough, spearman(inside, variance), np.nan), -1)
        if np.isfinite(within).any() and np.isfinite(within).sum() == _with_any(curvature):
            found.append(within)
    return np.stack(found, axis=-1) if found else np.empty((len(curvature), 0))


def _with_any(curvature: np.ndarray) -> int:
    """How many realizations have a net at all."""
    return int(np.isfinite(curvature).any((1, 2)).sum())


def _size(material: Material) -> Iterator[Claim]:
    for name in GROWING:
        key, symbol = SWEPT[name]
        sweep = Sweep(material, name, key)
        yield sweep.claim(
            f"{name}_size",
            f"T_w grows with ‖w‖₂ when {symbol} varies",
            "rank correlation of T_w with the layer's ‖w‖₂ over the nets of the sweep",
            RISING,
            pooled,
            sweep.read("hidden_summary", "T_w"),
            sweep.read("hidden_summary", "layer_norm"),
        )
    for name in FLAT:
        key, symbol = SWEPT[name]
        sweep = Sweep(material, name, key)
        for column, what in (("T_w", "T_w"), ("layer_norm", "‖w‖₂")):
            yield sweep.claim(
                f"{name}_{column}",
                f"{what} is flat when {symbol} varies",
                f"relative change of mean {what} {ENDS}",
                BARELY,
                change,
                sweep.read("hidden_summary", column),
            )
