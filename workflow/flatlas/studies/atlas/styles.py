"""What the figures of the atlas share: the style of each sweep, and the small print."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, COLOURS, GREY
from flatlas.studies.atlas.nets import CROSSED, STUDY, known_in, once
from flatlas.studies.atlas.quantities import QUANTITIES, SEARCHED, settled

# Colours repeat after six sweeps, markers do not.
MARKERS = "o^sDvPX*p<>hd8H"
BEHIND = ("0.75", "o")
DAGGER = r"†: knows test images; $T_g$ and $\Delta L$ know their losses. "


def styles(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """The colour and marker of each sweep; the crossed design is drawn first, in grey."""
    sweeps = [str(name) for name in table["sweep"].unique() if name != CROSSED]
    known = {CROSSED: BEHIND} if CROSSED in set(table["sweep"]) else {}
    return known | dict(zip(sweeps, colours_and_markers(), strict=False))


def colours_and_markers() -> Iterator[tuple[str, str]]:
    """Pairs of a colour and a marker, without end."""
    return zip(cycle(COLOURS), cycle(MARKERS), strict=False)


def words_on_the_right(ax: Axes, words: Sequence[str]) -> None:
    """Write small grey words beside the rows of a panel."""
    right = ax.secondary_yaxis("right")
    right.set_yticks(range(len(words)), words, fontsize=6.5)
    right.tick_params(length=0, colors=GREY)
    right.spines["right"].set_visible(False)


def draw_intervals(
    ax: Axes, places: Iterable[float], rows: pd.DataFrame, colour: str = BLACK
) -> None:
    """Draw a horizontal line at the place of each row that has an interval."""
    for place, (low, high) in zip(places, rows[["low", "high"]].to_numpy(float), strict=True):
        if np.isfinite(low):
            ax.plot([low, high], [place, place], "-", color=colour, lw=1.1)


def counted(table: pd.DataFrame, name: str) -> str:
    """The number of runs and nets for which a quantity is known."""
    known = once(table.dropna(subset=[name]))
    return f"{known['run'].nunique()} runs, {len(known)} nets"


def small_print(material: Material, table: pd.DataFrame) -> str:
    """Small print: how many nets there are, and how many values are unreliable."""
    trained, found = material.trainings, once(table)
    seeds = len(found[[STUDY, "seed"]].drop_duplicates())
    text = f"{found['run'].nunique()} runs, {len(found)} networks, {seeds} realizations."
    if lost := int((~trained["converged"]).sum()):
        text += f" {lost} of {len(trained)} trainings met no stopping rule and are left out."
    searches = found[[settled(name) for name in SEARCHED if settled(name) in found]]
    if count := int((searches == 0).sum().sum()):
        text += f" {count} of {int(searches.notna().sum().sum())} values come from searches that"
        text += " did not converge."
    drawn = known_in(table.reindex(columns=[*QUANTITIES]))
    is_tested = any(QUANTITIES[name].tested for name in drawn)
    return (DAGGER if is_tested else "") + text
