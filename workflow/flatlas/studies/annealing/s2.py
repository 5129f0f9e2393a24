"""Figure S2: what a step along the first principal direction does to outputs and loss."""

from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, Claims
from flatlas.claims.conventions import BARELY_OFF, MORE, TIGHT
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import RED, Drawing, note, panels, shades
from flatlas.statistics.correlation import pearson
from flatlas.statistics.means import mean, smallest
from flatlas.studies.annealing import recordings
from flatlas.studies.annealing.directions import placed, read
from flatlas.studies.annealing.recordings import BASE, FIRST, LAST, VALLEY

MARGINS = "first_mode_margins"
# The first direction, and the directions compared with it.
RANKS = (1, 2, 3, 5, 10, 50)
MARKERS = "os^vD<>pXP"
# A symbol at every fourth step.
EVERY = 4


def draw(material: Material) -> Drawing:
    """The first net. A: by how much the right output exceeds the others. B: ln L_i."""
    margins = recordings.first_net(
        recordings.measured(material, MARGINS, "label", "theta", "margin")
    )
    profiles = recordings.first_profiles(material, "valley_profiles", RANKS, "loss")
    figure, axes = panels(1, 2, width=3.9, height=3.0)
    _margins(axes[0], margins)
    _profiles(axes[1], profiles)
    note(
        figure,
        "The first net. A: means over the first images of each digit, between the two ends of the"
        r" valley along $p_1$, where the loss has grown by $e$; $\theta_1$ grows the way SGD went."
        " B: in red the first direction; dotted, its slope at 0. "
        + recordings.small_print(material),
    )
    points = [margins.assign(panel="A"), profiles.assign(panel="B")]
    return Drawing(figure, pd.concat(points, ignore_index=True))


def _margins(ax: Axes, margins: pd.DataFrame) -> None:
    labels = sorted(margins["label"].unique())
    for label, colour, marker in zip(labels, shades(len(labels)), cycle(MARKERS), strict=False):
        line = margins[margins["label"] == label]
        ax.plot(line["theta"], line["margin"], color=colour, marker=marker, markevery=EVERY,
                ms=3.5, lw=1.0, label=f"{label:g}")  # fmt: skip
    ax.axvline(0, color="0.7", lw=0.8, zorder=0)
    ax.set(xlabel=r"$\theta_1$", ylabel=r"$\Delta Y_k$")
    if labels:
        ax.legend(title="digit", ncols=1, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _profiles(ax: Axes, profiles: pd.DataFrame) -> None:
    colours: dict[Any, Any] = dict(zip(RANKS, [RED, *shades(len(RANKS) - 1)], strict=True))
    for rank, line in profiles.groupby("rank"):
        first = rank == 1
        log = np.log(line["loss"])
        ax.plot(line["delta"], log, color=colours[rank], lw=2.2 if first else 1.2,
                zorder=3 if first else 2, label=f"$i$ = {rank:g}")  # fmt: skip
        if first:
            _slope(ax, line["delta"].to_numpy(), log.to_numpy())
    ax.axvline(0, color="0.7", lw=0.8, zorder=0)
    ax.set(xlabel=r"$\theta_i$", ylabel=r"$\ln\,L_i(\theta_i)$")
    if len(profiles):
        ax.legend(loc="upper center", ncols=2)
        others = profiles[profiles["rank"] > 1] if (profiles["rank"] > 1).any() else profiles
        reach = others["delta"].abs().max()
        shown = np.log(profiles.loc[profiles["delta"].abs() <= reach, "loss"])
        # Room for the legend above the lines.
        ax.set(xlim=(-reach, reach), ylim=(shown.min() - 0.3, shown.max() + 0.4 * np.ptp(shown)))


def _slope(ax: Axes, delta: np.ndarray, log: np.ndarray) -> None:
    """Draw the tangent at 0, as far as it changes ln L by 1."""
    middle = int(np.abs(delta).argmin())
    slope = (log[middle + 1] - log[middle - 1]) / (delta[middle + 1] - delta[middle - 1])
    reach = min(1 / abs(slope), np.abs(delta).max()) if slope else np.abs(delta).max()
    ends = np.array([-reach, reach])
    ax.plot(ends, log[middle] + slope * ends, ":", color="black", lw=1.2, zorder=4)


def claims(material: Material) -> Claims:
    """The claims about panel A, then B."""
    nets = Nets(placed(material, MARGINS, "label"), BASE)
    yield _linear(nets)
    yield from _slopes(nets)


def _linear(nets: Nets) -> Claim:
    theta, margin = (
        nets.read_of_run(MARGINS, name, "label", "place") for name in ("theta", "margin")
    )
    least = smallest(pearson(theta, margin))
    return nets.mean_claim(
        "linear",
        "ΔY_k grows linearly with θ_1, for samples of every class",
        "Pearson's coefficient of ΔY with θ_1 between the ends of the valley, the least of all"
        " classes",
        TIGHT["pearson"],
        least,
    )


def _slopes(nets: Nets) -> Claims:
    slope, width, settled = (
        read(nets, VALLEY, name, 1, LAST) for name in ("slope", "flatness", "converged")
    )
    steps = slope * width
    yield nets.mean_claim(
        "slope",
        "ln L_1 falls at 0, the way SGD drifts",
        "minus the slope of ln L_1 at 0, times F_1",
        MORE,
        -steps[:, 0],
        settled=(settled[:, 0],),
    )
    yield nets.claim(
        "no_slope",
        "along all other directions ln L_i has no slope at 0",
        f"size of the slope times F_i, relative to that of the first direction; mean over"
        f" directions {FIRST} to {LAST} and nets",
        BARELY_OFF,
        mean,
        mean(np.abs(steps[:, 1:]), -1) / np.abs(steps[:, 0]),
        settled=(settled,),
    )
