"""Figure 5: the active temperature by place, by direction, by time."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import FINAL, Material
from flatlas.plotting.style import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    RED,
    Drawing,
    note,
    panels,
    plain_ticks,
    shades,
)
from flatlas.studies.annealing.curves import PHASES_LEGEND, learning_curves, phases, shade
from flatlas.studies.annealing.fits import fit, log_log
from flatlas.studies.annealing.recordings import NET, first_net, small_print
from flatlas.studies.annealing.relation import FIRST, LAST

# The directions of panel A, and that of panels C and D.
RANKS, FOLLOWED = (10, 20, 50, 100), 10
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
TEMPERATURE = "$T_{{{}}}(\\delta\\theta)$"
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
        "A, C, D: the first net; B: all nets. A: dotted, the loss $L_i$ to the scale of $T_i(0)$."
        " C: light to dark, at some of the moments of D. D: dots, $T_i(0)$; red, the training loss."
        f" {PHASES_LEGEND}" + small_print(material),
    )
    return Drawing(figure, pd.concat(points, ignore_index=True))


def _profiles(ax: Axes, material: Material) -> pd.DataFrame:
    """T_i, and the loss beside it."""
    rows = material.measured("temperature_profiles", ["rank", "delta", "temperature", "loss"])
    rows = first_net(rows[rows["rank"].isin(RANKS)])
    rows = rows[[*NET, "rank", "delta", "temperature", "loss"]]
    for (rank, line), colour in zip(rows.groupby("rank"), COLOURS, strict=False):
        here = line[line["delta"] == 0].iloc[0]
        ax.plot(line["delta"], line["temperature"], color=colour, label=f"$i$ = {rank:g}")
        scaled = line["loss"] * here["temperature"] / here["loss"]
        ax.plot(line["delta"], scaled, ":", color=colour, lw=1.0)
    ax.set(xlabel=r"$\delta\theta$", ylabel=r"$T_i(\delta\theta)$")
    if len(rows):
        ax.set_yscale("log")
        low, high = ax.get_ylim()
        # Room for the legend above the lines.
        ax.set_ylim(low, high * (high / low) ** 0.25)
        ax.legend(loc="upper center", ncols=2)
    return rows.assign(panel="A")


def _by_direction(ax: Axes, material: Material) -> list[pd.DataFrame]:
    """T_i(0) by rank; inset, by flatness."""
    heat = material.measured("temperature_directions", ["rank", "temperature"])
    valleys = material.measured("valley_directions", ["rank", "flatness"])
    rows = heat[[*NET, "rank", "temperature"]].merge(
        valleys[[*NET, "rank", "flatness"]], on=[*NET, "rank"]
    )
    ax.plot(rows["rank"], rows["temperature"], ".", color=BLUE, ms=3, alpha=0.6)
    log_log(ax, rows)
    ax.set(xlabel="rank $i$", ylabel="$T_i(0)$")
    told = [rows.assign(panel="B")]
    if len(rows):
        diffusive = rows[rows["rank"].between(FIRST, LAST)]
        inset = ax.inset_axes((0.17, 0.14, 0.42, 0.42))
        inset.plot(diffusive["flatness"], diffusive["temperature"], ".", color=BLUE, ms=2)
        inset.set(xscale="log", yscale="log")
        plain_ticks(inset.xaxis)
        inset.set_xlabel("$F_i$", fontsize=7.5, labelpad=1)
        inset.set_title("$T_i(0)$", fontsize=7.5, loc="left", pad=2)
        inset.tick_params(which="both", labelsize=5.5, pad=1)
        found = fit(rows, "flatness", "temperature", FIRST, LAST)
        if found:
            found.draw(inset)
            slope = found.told("slope").replace("$", "").replace(" [", "\n[")
            corner = inset.transAxes
            inset.text(0.98, 0.98, slope, fontsize=5.5, ha="right", va="top", transform=corner)
            told.append(found.row.assign(panel="B"))
    return told


def followed(material: Material, table: str, *columns: str) -> pd.DataFrame:
    """The first net along the followed direction at every moment, each once, in order of time."""
    wanted = ["rank", "epoch", "temperature", "loss", *columns]
    rows = material.measured(f"cooling_{table}", wanted, every_moment=True)
    rows = first_net(rows[rows["rank"] == FOLLOWED])
    ends = rows.loc[rows["at"].astype(str) == FINAL, "epoch"] if "at" in rows else rows["epoch"]
    # Checkpoints beyond the end of a training are that end again.
    kept = rows[rows["epoch"] <= ends.max()].drop_duplicates([*NET, "epoch", *columns])
    return kept.sort_values(["epoch", *columns])[[*NET, *wanted]]


def _over_time(ax: Axes, material: Material) -> pd.DataFrame:
    rows = followed(material, "profiles", "delta")
    epochs = sorted(rows["epoch"].unique())
    step = max(1, -(-(len(epochs) - 1) // (MOMENTS - 1)))
    drawn = epochs[::-1][::step][::-1]
    for epoch, colour in zip(drawn, shades(len(drawn)), strict=True):
        line = rows[rows["epoch"] == epoch]
        ax.plot(line["delta"], line["temperature"], color=colour, label=f"{epoch:g}")
    ax.set(xlabel=r"$\delta\theta$", ylabel=TEMPERATURE.format(FOLLOWED))
    if drawn:
        ax.set_yscale("log")
        ax.legend(title="epoch", loc="center left", bbox_to_anchor=(1.0, 0.5))
        # Early valleys may be far wider than the last.
        reach = WIDER * rows.loc[rows["epoch"] == epochs[-1], "delta"].abs().max()
        ax.set_xlim(-reach, reach)
    return rows[rows["epoch"].isin(drawn)].assign(panel="C")


def _with_the_loss(ax: Axes, material: Material) -> list[pd.DataFrame]:
    """T_i(0) and L over time, each with its axis; inset, one against the other."""
    rows = followed(material, "directions")
    curve = first_net(learning_curves(material, "base"))
    ax.plot(rows["epoch"], rows["temperature"], "o-", color=BLUE, lw=0.8)
    log_log(ax, rows)
    ax.set_xlabel("$t$ (epochs)")
    ax.set_ylabel(f"$T_{{{FOLLOWED}}}(0)$", color=BLUE)
    if len(curve):
        beside = ax.twinx()
        beside.plot(curve["epoch"], curve["train_loss"], color=RED, lw=1.0)
        beside.set(yscale="log")
        beside.set_ylabel("training loss $L$", color=RED)
        beside.spines["right"].set_visible(True)
        shade(ax, *phases(curve))
    if len(rows):
        inset = ax.inset_axes((0.13, 0.13, 0.36, 0.36))
        inset.plot(rows["loss"], rows["temperature"], "o", color=BLACK, ms=2)
        inset.set(xscale="log", yscale="log")
        inset.set_xlabel("$L$", fontsize=7.5, labelpad=1)
        inset.set_title(f"$T_{{{FOLLOWED}}}(0)$", fontsize=7.5, loc="left", pad=2)
        inset.tick_params(which="both", labelsize=5.5, pad=1)
    return [rows.assign(panel="D"), curve.drop(columns="sweep").assign(panel="D")]


def claims(material: Material):
    """See there."""
    from flatlas.studies.annealing.fig5_claims import judge

    return judge(material)
