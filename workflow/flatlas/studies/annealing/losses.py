"""Not in the paper: the variance-flatness relation (Figure 2D) measured at several losses."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from flatlas.evidence.material import NET, Material, with_settings
from flatlas.plotting.style import BLUE, RED, Drawing, note, panels
from flatlas.studies.annealing import relation
from flatlas.studies.annealing.recordings import recorded, scientific

RULE = "stop.loss_below"
COLUMNS = 3


def draw(material: Material) -> Drawing:
    """A panel for each loss at which a recording began, falling; the last has ψ over the loss."""
    rows = relation.flatnesses(material, RULE)
    rows = rows.merge(recorded(material)[[*NET, "first_loss", "loss"]], on=NET)
    outcomes = with_settings(material.tables["outcomes"], [RULE])
    rules = sorted(outcomes[RULE].dropna().unique(), reverse=True)
    figure, axes = panels(-(-(len(rules) + 1) // COLUMNS), COLUMNS, height=2.7)
    fits: list[pd.DataFrame] = []
    for ax, rule in zip(axes, rules, strict=False):
        fits += _at(ax, rows[rows[RULE] == rule], rule)
    exponents = pd.concat(fits, ignore_index=True) if fits else pd.DataFrame()
    _over_losses(axes[len(rules)], exponents)
    for unused in axes[len(rules) + 1 :]:
        unused.remove()
    note(
        figure,
        "Above each panel: the training loss at the first recorded step and at $w_0$. "
        + relation.remarks(material, rows),
    )
    return Drawing(figure, pd.concat([relation.diffusive(rows), exponents], ignore_index=True))


def _at(ax: Axes, rows: pd.DataFrame, rule: float) -> Iterator[pd.DataFrame]:
    for found in relation.plot(ax, rows):
        yield found.assign(**{RULE: rule}, loss=rows["loss"].mean())
    relation.finish(ax)
    if len(rows):
        ends = (scientific(rows[end].mean()) for end in ("first_loss", "loss"))
        ax.set_title("$L$: " + " → ".join(ends), loc="right", fontsize=8)


def _over_losses(ax: Axes, fits: pd.DataFrame) -> None:
    ax.axhline(relation.PSI, color=RED, lw=0.9, zorder=0)
    if len(fits):
        ax.plot(fits["loss"], -fits["value"], "o", color=BLUE)
        ax.vlines(fits["loss"], -fits["high"], -fits["low"], color=BLUE)
        ax.set_xscale("log")
        # Within one decade matplotlib labels the minor ticks, and the labels overlap.
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.invert_xaxis()
        ax.text(
            0.98, relation.PSI, f"the paper's {relation.PSI:g}", color=RED, fontsize=7.5,
            ha="right", va="bottom", transform=ax.get_yaxis_transform(),
        )  # fmt: skip
    ax.ticklabel_format(axis="y", useOffset=False)
    ax.set(xlabel="training loss at $w_0$", ylabel=r"$\psi$")
