"""What figures of recorded weights share: nets, directions and losses."""

from collections.abc import Callable, Iterable, Sequence

import pandas as pd

from flatlas.evidence.material import NET, Material, at_moment
from flatlas.plotting.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED
from flatlas.reasons import DIVERGED
from flatlas.statistics.round_off import above_round_off

BASE = "base"
VALLEY = "valley_directions"
# The diffusive modes, as far as they are measured.
FIRST, LAST = 2, 200
# The directions whose profiles the paper draws, and the colours of profiles.
RANKS = (10, 20, 50, 100)
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, RED, BLACK)


def measured(
    material: Material, table: str, *columns: str, keys: Sequence[str] = NET
) -> pd.DataFrame:
    """Some columns of a table, as measured at the end of each training."""
    return at_moment(material.tables[table])[[*keys, *columns]]


def first_net(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the first realization of the first run, which is drawn in full."""
    if rows.empty:
        return rows
    mine = rows[rows["run"] == rows["run"].iloc[0]]
    return mine[mine["seed"] == mine["seed"].min()]


def first_profiles(
    material: Material, table: str, ranks: Sequence[int], *columns: str
) -> pd.DataFrame:
    """Profiles of the first net along some directions."""
    rows = measured(material, table, "rank", "delta", *columns)
    return first_net(rows[rows["rank"].isin(ranks)])


def live(rows: pd.DataFrame) -> pd.DataFrame:
    """The directions along which a net moves: those with a variance above round-off.

    Weights of dead neurons do not change the loss, so their valleys have no ends.
    """
    return above_round_off(rows, "variance", NET)


def recorded(material: Material) -> pd.DataFrame:
    """The nets that have a recording, with their training loss at its start and at w_0, its end."""
    outcomes = material.trainings
    outcomes = outcomes[(outcomes["met_epoch"] > 0) & (outcomes["reason"] != DIVERGED)]
    history = material.tables["history"].drop_duplicates([*NET, "epoch"])
    nets = outcomes[[*NET, "met_epoch", "epoch"]]
    for epoch, loss in {"met_epoch": "first_loss", "epoch": "loss"}.items():
        losses = history[[*NET, "epoch", "train_loss"]].set_axis([*NET, epoch, loss], axis=1)
        nets = nets.merge(losses, on=[*NET, epoch])
    return nets


def small_print(material: Material) -> str:
    """Small print: the losses between which nets were recorded, and how many lack a recording."""
    nets = material.trainings
    found = recorded(material)
    text = ""
    if len(found):
        epochs = span(found["epoch"] - found["met_epoch"], "{:g}".format)
        first, last = (span(found[name], scientific) for name in ("first_loss", "loss"))
        text = (
            f"Recorded for {epochs} epochs from a training loss of {first}; measured at the end,"
            f" $w_0$, at {last}. "
        )
    without = len(nets) - len(found)
    text += f"{len(nets)} net{'s' if len(nets) > 1 else ''}"
    return text + (f", {without} without a recording." if without else ".")


def span(values: Iterable[float], written: Callable[[float], str]) -> str:
    """The smallest and the largest value, or one of them if both are written alike."""
    known = list(values)
    low, high = written(min(known)), written(max(known))
    return low if low == high else f"{low} to {high}"


def scientific(loss: float) -> str:
    """A loss with two digits and a power of ten: 4.6e-5 as 4.6 × 10^−5."""
    digits, power = f"{loss:.1e}".split("e")
    return rf"${digits}\times10^{{{int(power)}}}$"
