"""Figure S1: the two phases of learning, found by a stated criterion."""

from math import isfinite, nan

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import ALL, SMALL, near
from flatlas.claims.nets import Nets
from flatlas.evidence.material import NET, Material
from flatlas.plotting.style import BLUE, GREY, RED, Drawing, note, panels, plain_ticks
from flatlas.plotting.trainings import small_print
from flatlas.statistics.estimate import share_of_ones
from flatlas.statistics.learning_phases import SHARE, steepness
from flatlas.studies.annealing.curves import PHASES_LEGEND, learning_curves, phases, shade

# By sweep: the net's names, and the epoch around which the paper sees its drop.
NETS = {"deep_curve": ("deep", "four hidden layers", 50), "lenet_curve": ("lenet", "LeNet", 30)}


def draw(material: Material) -> Drawing:
    """Top: the loss over time. Bottom: the steepness, which separates the phases."""
    figure, axes = panels(2, 2, width=3.6, height=2.4)
    points: list[pd.DataFrame] = []
    for column, (sweep, (_, net, _)) in enumerate(NETS.items()):
        curves = learning_curves(material, sweep)
        axes[column].set_title(net, loc="right")
        points += _net(axes[column], axes[2 + column], curves, "ABCD"[column::2])
    thin = "Thin: further realizations. " if material.trainings["seed"].nunique() > 1 else ""
    note(figure, PHASES_LEGEND + thin + small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))


def _net(above: Axes, below: Axes, curves: pd.DataFrame, letters: str) -> list[pd.DataFrame]:
    """All realizations of a net, the first in full with its phases, the others as thin lines."""
    points = [curves.assign(panel=letters[0])]
    for seed, curve in curves.groupby("seed"):
        first = seed == curves["seed"].min()
        width, alpha, order = (1.2, 1.0, 3) if first else (0.5, 0.3, 2)
        moments, steep = steepness(
            curve["epoch"].to_numpy(float), curve["train_loss"].to_numpy(float)
        )
        steepest, begins = phases(curve)
        for ax, x, y in ((above, curve["epoch"], curve["train_loss"]), (below, moments, steep)):
            ax.plot(x, y, color=BLUE, lw=width, alpha=alpha, zorder=order)
        columns = {"epoch": moments, "steepness": steep, "steepest": steepest, "begins": begins}
        points.append(pd.DataFrame(columns).assign(seed=seed, panel=letters[1]))
        if first:
            _mark(above, below, steep, (steepest, begins))
    above.set(yscale="log", xlabel="$t$ (epochs)", ylabel="training loss $L$")
    below.set(xscale="log", xlabel="$t$ (epochs)", ylabel=r"$s=-\mathrm{d}\ln L/\mathrm{d}\ln t$")
    plain_ticks(below.xaxis)
    return points


def _mark(above: Axes, below: Axes, steep: np.ndarray, ends: tuple[float, float]) -> None:
    if not np.isfinite(ends).all():
        above.text(0.96, 0.9, "one phase", transform=above.transAxes, color=RED, ha="right")
        return
    for ax in (above, below):
        shade(ax, *ends)
        ax.axvline(ends[1], color=RED, lw=0.9)
    below.axhline(SHARE * steep.max(), color=GREY, ls=":", lw=0.9)
    text = f" exploration\n from epoch {ends[1]:.0f}"
    above.text(ends[1], 0.97, text, transform=above.get_xaxis_transform(), color=RED, va="top",
               fontsize=8)  # fmt: skip


def claims(material: Material) -> Claims:
    """The claims about both nets."""
    for sweep, net in NETS.items():
        yield from _phases(material, sweep, *net)


def _phases(material: Material, sweep: str, name: str, net: str, drop: int) -> Claims:
    nets = Nets(material, sweep)
    curves = learning_curves(material, sweep).merge(nets.solved, on=NET)
    found = {seed: _numbers(curve) for seed, curve in curves.groupby("seed")}
    numbers = [found.get(seed, (nan, nan, nan)) for seed in nets.seeds]
    two, slowed, steepest = np.array(numbers).reshape(-1, 3).T
    yield nets.judged(
        f"{name}_phases",
        f"learning has two phases: {net}",
        "share of trainings in which an exploration phase begins, by the stated criterion",
        ALL,
        share_of_ones(two),
        half_width=None,
    )
    yield nets.mean_claim(
        f"{name}_slower",
        f"in the second phase the loss falls much more slowly: {net}",
        "fall of ln L per epoch from where exploration begins to the end, relative to that from"
        " where the loss falls steepest to there",
        SMALL,
        slowed,
    )
    yield nets.mean_claim(
        f"{name}_drop",
        f"the fast drop comes around epoch {drop}: {net}",
        "epoch around which the loss falls steepest, relative to the time until then",
        near(drop),
        steepest,
        paper=f"{drop}",
    )


def _numbers(curve: pd.DataFrame) -> tuple[float, float, float]:
    """Whether exploration begins, how much slower the loss then falls, when it falls steepest."""
    steepest, begins = phases(curve)
    epochs = curve["epoch"].to_numpy(float)
    least = np.minimum.accumulate(curve["train_loss"].to_numpy(float))
    times = np.array([steepest, begins, epochs[-1]])
    fast, slow = np.diff(np.interp(times, epochs, np.log(least))) / np.diff(times)
    return float(isfinite(begins)), float(slow / fast), steepest
