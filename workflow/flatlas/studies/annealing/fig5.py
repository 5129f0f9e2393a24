"""Figure 5: the active temperature by place, by direction and over time."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, Claims
from flatlas.claims.conventions import FALLING, RISING, TIGHT
from flatlas.claims.nets import Nets
from flatlas.evidence.material import FINAL, NET, Material
from flatlas.plotting.style import (
    BLACK,
    BLUE,
    RED,
    Drawing,
    make_room,
    note,
    panels,
    plain_ticks,
    shades,
)
from flatlas.statistics.correlation import pearson, spearman
from flatlas.statistics.means import mean
from flatlas.studies.annealing import recordings
from flatlas.studies.annealing.curves import PHASES_LEGEND, learning_curves, phases, shade
from flatlas.studies.annealing.directions import POOLED, moving, placed, pooled, read
from flatlas.studies.annealing.fits import fit, log_log
from flatlas.studies.annealing.recordings import BASE, COLOURS, RANKS, VALLEY
from flatlas.studies.annealing.relation import diffusive

PROFILES, DIRECTIONS = "temperature_profiles", "temperature_directions"
COOLING = "cooling_directions"
# The direction of panels C and D.
FOLLOWED = 10
# Moments drawn in panel C, at most.
MOMENTS = 6
# How much wider than the last profile panel C is.
WIDER = 2


def draw(material: Material) -> Drawing:
    """A, C, D: the first net. B: all nets."""
    figure, axes = panels(2, 2, width=3.9, height=2.9)
    points = [
        _profiles(axes[0], material),
        *_by_direction(axes[1], material),
        _over_time(axes[2], material),
        *_with_the_loss(axes[3], material),
    ]
    note(
        figure,
        "A, C, D: the first net; B: all nets. A: dotted, the loss $L_i$, scaled to $T_i(0)$."
        " C: light to dark, at some of the moments of D. D: dots, $T_i(0)$; red, the training loss."
        f" {PHASES_LEGEND}" + recordings.small_print(material),
    )
    return Drawing(figure, pd.concat(points, ignore_index=True))


def _profiles(ax: Axes, material: Material) -> pd.DataFrame:
    rows = recordings.first_profiles(material, PROFILES, RANKS, "temperature", "loss")
    for (rank, line), colour in zip(rows.groupby("rank"), COLOURS, strict=False):
        here = line[line["delta"] == 0].iloc[0]
        ax.plot(line["delta"], line["temperature"], color=colour, label=f"$i$ = {rank:g}")
        scaled = line["loss"] * here["temperature"] / here["loss"]
        ax.plot(line["delta"], scaled, ":", color=colour, lw=1.0)
    ax.set(xlabel=r"$\delta\theta$", ylabel=r"$T_i(\delta\theta)$")
    if len(rows):
        ax.set_yscale("log")
        make_room(ax, above=0.25)
        ax.legend(loc="upper center", ncols=2)
    return rows.assign(panel="A")


def _by_direction(ax: Axes, material: Material) -> Iterator[pd.DataFrame]:
    heat = recordings.measured(material, DIRECTIONS, "rank", "temperature")
    rows = heat.merge(recordings.measured(material, VALLEY, "rank", "flatness"), on=[*NET, "rank"])
    ax.plot(rows["rank"], rows["temperature"], ".", color=BLUE, ms=3, alpha=0.6)
    log_log(ax, rows, xlabel="rank $i$", ylabel="$T_i(0)$")
    yield rows.assign(panel="B")
    if len(rows):
        inset = ax.inset_axes((0.17, 0.14, 0.42, 0.42))
        dots = diffusive(rows)
        inset.plot(dots["flatness"], dots["temperature"], ".", color=BLUE, ms=2)
        _inset_scales(inset, "$F_i$", "$T_i(0)$")
        plain_ticks(inset.xaxis)
        found = fit(rows, "flatness", "temperature")
        if found:
            found.draw(inset)
            slope = found.label("slope").replace("$", "").replace(" [", "\n[")
            corner = inset.transAxes
            inset.text(0.98, 0.98, slope, fontsize=5.5, ha="right", va="top", transform=corner)
            yield found.row.assign(panel="B")


def _inset_scales(inset: Axes, x: str, y: str) -> None:
    inset.set(xscale="log", yscale="log")
    inset.set_xlabel(x, fontsize=7.5, labelpad=1)
    inset.set_title(y, fontsize=7.5, loc="left", pad=2)
    inset.tick_params(which="both", labelsize=5.5, pad=1)


def _followed(material: Material, table: str) -> pd.DataFrame:
    """The rows of one direction at every moment of a training.

    Checkpoints beyond the end of a training only repeat its last moment, and are left out.
    """
    rows = material.tables[table]
    rows = rows[rows["rank"] == FOLLOWED]
    outcomes = material.trainings[[*NET, "epoch"]]
    ends = rows[NET].merge(outcomes, on=NET, how="left")["epoch"].to_numpy()
    return rows[(rows["epoch"] < ends) | (rows["at"].astype(str) == FINAL)]


def moments(material: Material, table: str, *columns: str) -> pd.DataFrame:
    """The rows of `_followed` for the first net, in order of time."""
    rows = recordings.first_net(_followed(material, table)).sort_values(["epoch", *columns])
    return rows[[*NET, "rank", "epoch", "temperature", "loss", *columns]]


def _over_time(ax: Axes, material: Material) -> pd.DataFrame:
    rows = moments(material, "cooling_profiles", "delta")
    epochs = sorted(rows["epoch"].unique())
    step = max(1, -(-(len(epochs) - 1) // (MOMENTS - 1)))
    drawn = epochs[::-1][::step][::-1]
    for epoch, colour in zip(drawn, shades(len(drawn)), strict=True):
        line = rows[rows["epoch"] == epoch]
        ax.plot(line["delta"], line["temperature"], color=colour, label=f"{epoch:g}")
    ax.set(xlabel=r"$\delta\theta$", ylabel=rf"$T_{{{FOLLOWED}}}(\delta\theta)$")
    if drawn:
        ax.set_yscale("log")
        ax.legend(title="epoch", loc="center left", bbox_to_anchor=(1.0, 0.5))
        # Early valleys may be far wider than the last.
        reach = WIDER * rows.loc[rows["epoch"] == epochs[-1], "delta"].abs().max()
        ax.set_xlim(-reach, reach)
    return rows[rows["epoch"].isin(drawn)].assign(panel="C")


def _with_the_loss(ax: Axes, material: Material) -> Iterator[pd.DataFrame]:
    """T_i(0) and L over time, each with its own axis; the inset has one against the other."""
    rows = moments(material, COOLING)
    curve = recordings.first_net(learning_curves(material, BASE))
    symbol = f"$T_{{{FOLLOWED}}}(0)$"
    ax.plot(rows["epoch"], rows["temperature"], "o-", color=BLUE, lw=0.8)
    log_log(ax, rows, xlabel="$t$ (epochs)")
    ax.set_ylabel(symbol, color=BLUE)
    if len(curve):
        right = ax.twinx()
        right.plot(curve["epoch"], curve["train_loss"], color=RED, lw=1.0)
        right.set(yscale="log")
        right.set_ylabel("training loss $L$", color=RED)
        right.spines["right"].set_visible(True)
        shade(ax, *phases(curve))
    if len(rows):
        inset = ax.inset_axes((0.13, 0.13, 0.36, 0.36))
        inset.plot(rows["loss"], rows["temperature"], "o", color=BLACK, ms=2)
        _inset_scales(inset, "$L$", symbol)
    yield rows.assign(panel="D")
    yield curve.drop(columns="sweep").assign(panel="D")


def claims(material: Material) -> Claims:
    """The claims about panels A, B, and C with D."""
    material = placed(moving(material, VALLEY), PROFILES, "rank")
    material = material.with_table(COOLING, _followed(material, COOLING))
    nets = Nets(material, BASE)
    yield _shape(nets)
    yield _by_flatness(nets)
    yield from _cooling(nets)


def _shape(nets: Nets) -> Claim:
    heat, loss = (
        nets.read_of_run(PROFILES, name, "rank", "place") for name in ("temperature", "loss")
    )
    return nets.claim(
        "shape",
        "T_i(δθ) has a profile similar to that of the loss L_i(δθ)",
        "rank correlation of the two along a profile; mean over profiles and nets",
        RISING,
        mean,
        mean(spearman(heat, loss), -1),
    )


def _by_flatness(nets: Nets) -> Claim:
    flatness, heat = read(nets, VALLEY, "flatness"), read(nets, DIRECTIONS, "temperature")
    return nets.judged(
        "flatter",
        "flatter directions are cooler",
        f"rank correlation of T_i(0) with F_i, {POOLED}",
        FALLING,
        pooled(spearman, flatness, heat),
        half_width=None,
        settled=(read(nets, VALLEY, "converged"),),
    )


def _cooling(nets: Nets) -> Claims:
    solved = np.isfinite(nets.read("outcomes", "epoch"))
    epoch, heat, loss = (
        np.where(solved, nets.read_of_run(COOLING, name, "at"), np.nan)
        for name in ("epoch", "temperature", "loss")
    )
    yield nets.mean_claim(
        "cools",
        "the temperature falls with time",
        f"rank correlation of T_{FOLLOWED}(0) with the epoch, over moments",
        FALLING,
        spearman(heat, epoch),
    )
    yield nets.mean_claim(
        "with_the_loss",
        "it is highly correlated with the loss",
        f"Pearson's coefficient of ln T_{FOLLOWED}(0) with ln L, over moments",
        TIGHT["pearson"],
        pearson(np.log(heat), np.log(loss)),
    )
