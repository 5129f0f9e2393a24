"""Figure S1: the two phases of learning, found by a stated criterion."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLUE, GREY, RED, Drawing, note, panels, plain_ticks
from flatlas.plotting.trainings import small_print
from flatlas.statistics.learning_phases import SHARE, steepness
from flatlas.studies.annealing.curves import PHASES_LEGEND, learning_curves, phases, shade

NETS = {"deep_curve": "four hidden layers", "lenet_curve": "LeNet"}


def draw(material: Material) -> Drawing:
    """Above the loss over time, below the steepness that tells the phases apart."""
    figure, axes = panels(2, 2, width=3.6, height=2.4)
    told: list[pd.DataFrame] = []
    for column, (sweep, name) in enumerate(NETS.items()):
        curves = learning_curves(material, sweep)
        axes[column].set_title(name, loc="right")
        told += _net(axes[column], axes[2 + column], curves, "ABCD"[column::2])
    note(figure, PHASES_LEGEND + small_print(material))
    return Drawing(figure, pd.concat(told, ignore_index=True))


def _net(above: Axes, below: Axes, curves: pd.DataFrame, letters: str) -> list[pd.DataFrame]:
    """All realizations of a net, the phases of the first."""
    told = [curves.assign(panel=letters[0])]
    for seed, curve in curves.groupby("seed"):
        moments, steep = steepness(
            curve["epoch"].to_numpy(float), curve["train_loss"].to_numpy(float)
        )
        steepest, begins = phases(curve)
        above.plot(curve["epoch"], curve["train_loss"], color=BLUE, lw=1.0)
        below.plot(moments, steep, color=BLUE, lw=1.0)
        columns = {"epoch": moments, "steepness": steep, "steepest": steepest, "begins": begins}
        told.append(pd.DataFrame(columns).assign(seed=seed, panel=letters[1]))
        if seed == curves["seed"].min():
            _mark(above, below, steep, (steepest, begins))
    if len(curves):
        above.set_yscale("log")
        below.set_xscale("log")
        plain_ticks(below.xaxis)
    above.set(xlabel="$t$ (epochs)", ylabel="training loss $L$")
    below.set(xlabel="$t$ (epochs)", ylabel=r"$s=-\mathrm{d}\ln L/\mathrm{d}\ln t$")
    return told


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


def claims(material: Material):
    """See there."""
    from flatlas.studies.annealing.s1_claims import judge

    return judge(material)
