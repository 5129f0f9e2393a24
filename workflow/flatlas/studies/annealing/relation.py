"""The inverse variance-flatness relation, σ_i² against F_i (Eq. 8), of one run or several."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLUE, plain_ticks
from flatlas.studies.annealing.fits import INTERVALS, fit
from flatlas.studies.annealing.recordings import live

# The diffusive modes, and how many of them are measured.
FIRST, LAST = 2, 200
FIT_LEGEND = (
    r"Dashed: power laws $\sigma_i^2\propto{}F_i^{-\psi}$ over ranks"
    f" {FIRST} to {LAST}, with"
    f" {INTERVALS}. "
)


def flatnesses(material: Material, sweep: str | None = None, *keys: str) -> pd.DataFrame:
    """F_i and σ_i² of the directions along which a net moves; NaN where the valley has no end."""
    columns = ["rank", "variance", "flatness"]
    rows = material.measured("valley_directions", [*columns, *keys], sweep)
    return live(rows[["sweep", "run", "seed", *keys, *columns]])


def unended(rows: pd.DataFrame) -> str:
    """How many directions have no F_i."""
    count = int(rows["flatness"].isna().sum())
    return f"Left out: {count} directions without an end of the valley. " if count else ""


def relation(
    ax: Axes, rows: pd.DataFrame, label: str = "", colour: str = BLUE, style: str = "o"
) -> Iterator[pd.DataFrame]:
    """Dots and their power law, which stands in the legend; gives the fit's row for the CSV."""
    diffusive = rows[rows["rank"].between(FIRST, LAST)]
    if diffusive.empty:
        return
    found = fit(rows, "flatness", "variance", FIRST, LAST)
    text = ", ".join(filter(None, [label, found.told(r"\psi", -1) if found else ""]))
    ax.plot(
        diffusive["flatness"], diffusive["variance"], style, color=colour, ms=2.6, mew=0,
        alpha=0.55, label=text,
    )  # fmt: skip
    if found:
        found.draw(ax, colour)
        yield found.row


def finish(ax: Axes) -> None:
    """Logarithmic axes with the paper's symbols, and the legend."""
    ax.set(xlabel="$F_i$", ylabel=r"$\sigma_i^2$")
    if ax.lines:
        ax.set(xscale="log", yscale="log")
        plain_ticks(ax.xaxis)
        # Room for the legend below the dots: a tenth of the height for each entry.
        low, high = ax.get_ylim()
        entries = len(ax.get_legend_handles_labels()[1])
        ax.set_ylim(low * (low / high) ** (0.1 * entries), high)
        ax.legend(loc="lower left", fontsize=7, markerscale=2, handletextpad=0.3)
