"""The inverse variance-flatness relation, σ_i² against F_i (Eq. 8): drawn, and claims about it."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import FALLING, near
from flatlas.claims.nets import Nets
from flatlas.evidence.material import DOT, Material, at_moment, with_settings
from flatlas.plotting.style import BLUE, make_room, plain_ticks
from flatlas.statistics.correlation import spearman
from flatlas.statistics.power_law import slope
from flatlas.studies.annealing.directions import POOLED, pooled, read
from flatlas.studies.annealing.fits import INTERVALS, fit
from flatlas.studies.annealing.recordings import FIRST, LAST, VALLEY, live, small_print

PSI = 4.0


def flatnesses(material: Material, *keys: str) -> pd.DataFrame:
    """F_i and σ_i² of the directions along which a net moves; NaN where the valley has no end."""
    rows = with_settings(at_moment(material.tables[VALLEY]), keys)
    return live(rows[[*DOT, *keys, "rank", "variance", "flatness"]])


def diffusive(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the directions to which power laws are fitted."""
    return rows[rows["rank"].between(FIRST, LAST)]


def remarks(material: Material, rows: pd.DataFrame) -> str:
    """Small print on the fits, on the directions that have no F_i, and on the recordings."""
    unended = int(rows["flatness"].isna().sum())
    left_out = f"Left out: {unended} directions without an end of the valley. " if unended else ""
    fits = (
        r"Dashed: power laws $\sigma_i^2\propto{}F_i^{-\psi}$ over ranks"
        f" {FIRST} to {LAST}, with {INTERVALS}. "
    )
    return fits + left_out + small_print(material)


def plot(
    ax: Axes, rows: pd.DataFrame, label: str = "", colour: str = BLUE, marker: str = "o"
) -> Iterator[pd.DataFrame]:
    """Draw dots and their power law, named in the legend; yields the fit's row for the CSV."""
    dots = diffusive(rows)
    if dots.empty:
        return
    found = fit(rows, "flatness", "variance")
    text = ", ".join(filter(None, [label, found.label(r"\psi", -1) if found else ""]))
    ax.plot(
        dots["flatness"], dots["variance"], marker, color=colour, ms=2.6, mew=0, alpha=0.55,
        label=text,
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
        # A tenth of the height for each entry of the legend.
        make_room(ax, below=0.1 * len(ax.get_legend_handles_labels()[1]))
        ax.legend(loc="lower left", fontsize=7, markerscale=2, handletextpad=0.3)


def inverse_relation(nets: Nets, name: str, where: str) -> Claim:
    """The claim that σ_i² falls with F_i."""
    flatness, variance, settled = _measured(nets)
    return nets.judged(
        name,
        f"the flatter a direction, the smaller its variance: {where}",
        f"rank correlation of σ_i² with F_i, {POOLED}",
        FALLING,
        pooled(spearman, variance, flatness),
        half_width=None,
        settled=(settled,),
    )


def psi(nets: Nets, name: str, where: str) -> Claim:
    """The claim that σ_i² falls with F_i as a power law (Eq. 8)."""
    flatness, variance, settled = _measured(nets)
    return nets.judged(
        name,
        f"σ_i² ∝ F_i^−ψ with ψ near {PSI:g}: {where}",
        f"minus the exponent of σ_i² over F_i, {POOLED}",
        near(PSI),
        pooled(lambda x, y: -slope(x, y), flatness, variance),
        half_width=None,
        paper=f"{PSI:g}",
        settled=(settled,),
    )


def _measured(nets: Nets) -> Iterator[np.ndarray]:
    return (read(nets, VALLEY, column) for column in ("flatness", "variance", "converged"))
