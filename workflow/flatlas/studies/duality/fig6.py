"""Figure 6: the noise of minibatch gradients along the Hessian's eigenvectors, of both learners."""

from collections.abc import Sequence
from math import ceil, inf

import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import MORE, RISING
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import FINAL, NET, Material
from flatlas.plotting.style import Drawing, shades
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean
from flatlas.statistics.round_off import above_round_off
from flatlas.studies.duality.directions import SHARPEST, live
from flatlas.studies.duality.learners import COLOURS, KIND, NAMES
from flatlas.studies.duality.realizations import all_converged, finish, spread
from flatlas.studies.duality.spectra import picked

SWEEP, TABLE = "learners", "gradients_directions"
LEGEND = "Dots: directions at ten ranks a decade; means over realizations, bars: one s.d. "
# The claims compare DPSGD with SSGD.
ORDER = ("dpsgd", "ssgd")
# The study's moments, which name the claims if no training left a row.
PLANNED = ("10", "100", "1000", FINAL)
BEFORE = "before convergence"


def draw(material: Material) -> Drawing:
    """A: one kind of learners at all moments; B: both kinds, a small panel for each moment."""
    points = _noise(material)
    moments = sorted(points["at"].unique(), key=_when)
    figure, large, small = _grid(len(moments))
    _moments_panel(large, points[points[KIND] == "dpsgd"], moments)
    for ax, moment in zip(small, moments, strict=False):
        here = points[points["at"] == moment]
        for kind, name in NAMES.items():
            _draw_line(ax, here[here[KIND] == kind], COLOURS[kind], name)
        ax.set(xscale="log", yscale="log")
        ax.set_title(_named(moment), fontsize=8.5)
    if moments:
        small[0].legend(loc="upper left", handlelength=1.2)
    return finish(figure, [points], material, LEGEND)


def _noise(material: Material) -> pd.DataFrame:
    """Mean eigenvalue and noise at some ranks, for each kind of learners at each moment.

    A training that ended before a moment has no noise there.
    """
    table = material.measured(TABLE, SWEEP, KIND, every_moment=True)
    table = table.assign(at=table["at"].astype(str))
    # If H_n is round-off, the eigenvector is arbitrary and its noise means nothing.
    table = picked(above_round_off(table, "eigenvalue", [*NET, "at"]))
    asked = table["at"].map(_when).astype(float)
    table = table[(asked == inf) | (table["epoch"] >= asked)]
    keys = [KIND, "at", "n"]
    means = table.groupby(keys)[["epoch", "eigenvalue"]].mean()
    return means.join(spread(table, keys, "noise")).reset_index()


def _grid(moments: int) -> tuple[Figure, Axes, list[Axes]]:
    """One large panel, and next to it two rows of small panels that share their axes."""
    columns = max(ceil(moments / 2), 1)
    rows = 2 if moments > 1 else 1
    figure = pyplot.figure(figsize=(3.8 + 2.3 * columns, 4.0))
    grid = figure.add_gridspec(rows, 1 + columns, width_ratios=[3.6] + columns * [2.2])
    large = figure.add_subplot(grid[:, 0])
    large.set_title("A", loc="left", fontweight="bold")
    small: list[Axes] = []
    for place in range(max(moments, 1)):
        row, column = divmod(place, columns)
        shared = small[0] if small else None
        small.append(figure.add_subplot(grid[row, 1 + column], sharex=shared, sharey=shared))
        if row == rows - 1 or place + columns >= moments:
            small[-1].set_xlabel("$H_n$")
        else:
            small[-1].tick_params(labelbottom=False)
        if column == 0:
            small[-1].set_ylabel(r"$\Delta_n$")
        else:
            small[-1].tick_params(labelleft=False)
    small[0].set_title("B", loc="left", fontweight="bold")
    return figure, large, small


def _moments_panel(ax: Axes, points: pd.DataFrame, moments: Sequence[str]) -> None:
    for moment, colour in zip(moments, shades(len(moments)), strict=True):
        _draw_line(ax, points[points["at"] == moment], colour, _named(moment))
    ax.set(xlabel="$H_n$", ylabel=r"$\Delta_n$")
    ax.set_title(NAMES["dpsgd"], loc="right")
    if len(points):
        ax.set(xscale="log", yscale="log")
        ax.legend(loc="upper left")


def _draw_line(ax: Axes, line: pd.DataFrame, colour: str, label: str) -> None:
    face = colour if all_converged(line) else "white"
    low = line["sd"].clip(upper=0.9 * line["mean"])
    ax.errorbar(
        line["eigenvalue"], line["mean"], [low, line["sd"]], fmt="o-", ms=2.5, lw=0.8,
        elinewidth=0.5, capsize=0, color=colour, mfc=face, label=label,
    )  # fmt: skip


def _when(moment: str) -> float:
    return float(moment) if moment.isdigit() else inf


def _named(moment: str) -> str:
    return f"epoch {moment}" if moment.isdigit() else moment


def claims(material: Material) -> Claims:
    """The claims about the noise of both kinds at every moment, and about the excess of DPSGD."""
    sweep = Sweep(material, SWEEP, KIND, ORDER)
    rows = material.tables[TABLE]
    labels = set(rows.loc[rows["sweep"] == SWEEP, "at"].astype(str))
    moments = sorted(labels or PLANNED, key=_when)
    curvature = live(_ordered(sweep, "eigenvalue", moments))
    known = np.isfinite(curvature) & _training(sweep, moments)
    noise = np.where(known, _ordered(sweep, "noise", moments), np.nan)
    logs = np.log([curvature, live(noise)])
    yield from _growth(sweep, moments, spearman(curvature, noise))
    yield from _excess(sweep, moments, logs)


def _growth(sweep: Sweep, moments: Sequence[str], within: np.ndarray) -> Claims:
    """The claims that noise grows with H_n, from the rank correlations `within` single nets.

    `within` is (realizations, kinds, moments). A kind without solutions keeps its claims,
    undecided.
    """
    for kind in ORDER:
        place = [number for number, value in enumerate(sweep.values) if value == kind]
        for number, moment in enumerate(moments):
            when = "in the solution" if moment == FINAL else f"after {moment} epochs"
            yield sweep.claim(
                f"{kind}_{moment}",
                f"the noise of {NAMES[kind]} grows with H_n {when}",
                "rank correlation of Δ_n with H_n over the directions with H_n above round-off;"
                " mean over nets",
                RISING,
                lambda over: mean(over)[..., 0],
                within[:, place, number],
            )


def _excess(sweep: Sweep, moments: Sequence[str], logs: np.ndarray) -> Claims:
    """The claims about DPSGD against SSGD at the same H_n, from log H_n and log Δ_n."""
    both = len(sweep.values) > 1
    sharp, rest = _excesses(*logs) if both else np.empty((2, 0, len(moments)))
    final = np.array([moment == FINAL for moment in moments])
    at = "at the same H_n, over the 10 sharpest directions of DPSGD within the range of SSGD"
    yield sweep.claim(
        "above",
        f"DPSGD has more noise than SSGD {BEFORE}",
        f"geometric mean factor of Δ_n of DPSGD over SSGD, less 1; {at}, {BEFORE}",
        MORE,
        lambda sharp: np.expm1(_over(sharp, ~final)),
        sharp,
    )
    yield sweep.claim(
        "sharpest",
        f"the excess of DPSGD {BEFORE} is largest in the sharp directions",
        f"mean log factor of Δ_n of DPSGD over SSGD {at}, less that over all others; {BEFORE}",
        MORE,
        lambda sharp, rest: _over(sharp, ~final) - _over(rest, ~final),
        sharp,
        rest,
    )
    yield sweep.claim(
        "early",
        f"the excess of DPSGD is largest {BEFORE}",
        f"mean log factor of Δ_n of DPSGD over SSGD {BEFORE} less that in the solutions; {at}",
        MORE,
        lambda sharp: _over(sharp, ~final) - _over(sharp, final),
        sharp,
    )


def _excesses(curvature: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean log factor in the 10 sharpest directions, and in all others, at each moment."""
    excess = noise[:, 0] - _interpolated(curvature[:, 0], curvature[:, 1], noise[:, 1])
    return mean(excess[..., :SHARPEST], -1), mean(excess[..., SHARPEST:], -1)


def _interpolated(where: np.ndarray, curvature: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The noise of each net between its directions; NaN beyond the range of its curvatures."""
    found = np.full_like(where, np.nan)
    for net in np.ndindex(where.shape[:-1]):
        known = np.isfinite(curvature[net]) & np.isfinite(noise[net])
        if known.any():
            # By ascending curvature.
            x, y = curvature[net][known][::-1], noise[net][known][::-1]
            found[net] = np.interp(where[net], x, y, left=np.nan, right=np.nan)
    return found


def _over(excess: np.ndarray, which: np.ndarray) -> np.ndarray:
    """The mean over realizations and over some of the moments, the last axis."""
    return mean(mean(excess)[..., which], -1)


def _ordered(sweep: Sweep, column: str, moments: Sequence[str]) -> np.ndarray:
    """A quantity as (realizations, kinds, moments, directions), the moments by time."""
    labels = [str(label) for label in sweep.levels(TABLE, "at")]
    found = sweep.read(TABLE, column, "at", "n")
    ordered = np.full((*found.shape[:2], len(moments), found.shape[-1]), np.nan)
    for place, moment in enumerate(moments):
        if moment in labels:
            ordered[:, :, place] = found[:, :, labels.index(moment)]
    return ordered


def _training(sweep: Sweep, moments: Sequence[str]) -> np.ndarray:
    """A mask of the moments at which a net was still in training, and of its solution.

    A checkpoint after the end is the solution again, which counts once.
    """
    ended = sweep.read("outcomes", "epoch")[:, :, np.newaxis, np.newaxis]
    final = np.array([moment == FINAL for moment in moments])[:, np.newaxis]
    return final | ~(_ordered(sweep, "epoch", moments) >= ended)
