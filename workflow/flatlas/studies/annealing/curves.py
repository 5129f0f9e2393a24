"""Learning curves with their two phases: the fast drop of the loss, and exploration after it."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.statistics.learning_phases import SHARE, WINDOW, transition
from flatlas.studies.annealing.recordings import NET

SHADE = "#56B4E9"
PHASES_LEGEND = (
    "Shaded: from where the loss falls steepest to where exploration begins, by a stated criterion:"
    r" $s=-\mathrm{d}\ln{L}/\mathrm{d}\ln{t}$ of the least loss so far, over windows of a factor"
    f" {WINDOW:g} in $t$, has come down to {SHARE:g} of its largest for good. "
)


def learning_curves(material: Material, sweep: str) -> pd.DataFrame:
    """The training loss after every epoch, of all realizations of a sweep."""
    rows = material.tables["history"].reindex(columns=["sweep", *NET, "epoch", "train_loss"])
    rows = rows[(rows["sweep"] == sweep) & (rows["epoch"] > 0)]
    outcomes = material.tables["outcomes"].drop_duplicates(NET)
    diverged = outcomes.loc[outcomes["reason"] == "diverged", NET]
    rows = rows.merge(diverged.assign(diverged=True), on=NET, how="left")
    return rows[rows["diverged"].isna()].drop(columns="diverged").reset_index(drop=True)


def phases(curve: pd.DataFrame) -> tuple[float, float]:
    """When the loss of one realization falls steepest, and when exploration begins."""
    return transition(curve["epoch"].to_numpy(float), curve["train_loss"].to_numpy(float))


def shade(ax: Axes, steepest: float, begins: float) -> None:
    """The transition between the two phases."""
    ax.axvspan(steepest, begins, color=SHADE, alpha=0.25, lw=0, zorder=0)
