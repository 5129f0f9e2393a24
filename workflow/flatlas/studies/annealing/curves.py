"""Learning curves and their two phases: a fast drop of the loss, then slow exploration."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import DOT, NET, Material
from flatlas.plotting.style import SKY
from flatlas.reasons import DIVERGED
from flatlas.statistics.learning_phases import SHARE, WINDOW, transition

PHASES_LEGEND = (
    "Shaded: from the epoch where the loss falls steepest to the epoch where exploration begins,"
    r" which is where $s=-\mathrm{d}\ln{L}/\mathrm{d}\ln{t}$ has come down to"
    f" {SHARE:g} of its largest value for good. $L$ is the least loss so far, and $s$ is taken over"
    f" windows of a factor {WINDOW:g} in $t$. "
)


def learning_curves(material: Material, sweep: str) -> pd.DataFrame:
    """The training loss after every epoch, of all realizations of a sweep that did not diverge."""
    history, outcomes = material.tables["history"], material.tables["outcomes"]
    rows = history[(history["sweep"] == sweep) & (history["epoch"] > 0)]
    kept = outcomes.loc[outcomes["reason"] != DIVERGED, NET].drop_duplicates()
    return rows[[*DOT, "epoch", "train_loss"]].merge(kept, on=NET)


def phases(curve: pd.DataFrame) -> tuple[float, float]:
    """The epochs at which the loss of one realization falls steepest and exploration begins."""
    return transition(curve["epoch"].to_numpy(float), curve["train_loss"].to_numpy(float))


def shade(ax: Axes, steepest: float, begins: float) -> None:
    """Shade the transition between the two phases."""
    ax.axvspan(steepest, begins, color=SKY, alpha=0.25, lw=0, zorder=0)
