"""What the figures of a recording share: at which loss it was made, and how its nets are told."""

from collections.abc import Callable, Iterable

import pandas as pd

from flatlas.evidence.material import Material
from flatlas.statistics.round_off import ROUND_OFF

NET = ["run", "seed"]


def recorded(material: Material) -> pd.DataFrame:
    """A row a net that has a recording: its training loss when that began, and at w_0, the end."""
    outcomes = material.tables["outcomes"].drop_duplicates(NET)
    outcomes = outcomes[(outcomes["met_epoch"] > 0) & (outcomes["reason"] != "diverged")]
    history = material.tables["history"].reindex(columns=[*NET, "epoch", "train_loss"])
    history = history.drop_duplicates([*NET, "epoch"])
    told = outcomes[[*NET, "met_epoch", "epoch"]]
    for epoch, loss in {"met_epoch": "first_loss", "epoch": "loss"}.items():
        at = history.rename(columns={"epoch": epoch, "train_loss": loss})
        told = told.merge(at, on=[*NET, epoch])
    return told


def first_net(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the first realization of the first run: what is drawn in full."""
    if rows.empty:
        return rows
    run = rows["run"].iloc[0]
    mine = rows[rows["run"] == run]
    return mine[mine["seed"] == mine["seed"].min()]


def live(rows: pd.DataFrame) -> pd.DataFrame:
    """The directions along which a net moves: with a variance that is more than round-off."""
    largest = rows.groupby(NET)["variance"].transform("max")
    return rows[rows["variance"] > ROUND_OFF * largest]


def small_print(material: Material) -> str:
    """At which loss was measured, in how many nets, and how many have no recording."""
    nets = material.tables["outcomes"].drop_duplicates(NET)
    told = recorded(material)
    text = ""
    if len(told):
        epochs = told_span(told["epoch"] - told["met_epoch"], "{:g}".format)
        first, last = (told_span(told[name], told_loss) for name in ("first_loss", "loss"))
        text = (
            f"Recorded for {epochs} epochs, from a training loss of {first} on; measured at the"
            f" end, $w_0$, at {last}. "
        )
    without = len(nets) - len(told)
    text += f"{len(nets)} net{'s' if len(nets) > 1 else ''}"
    return text + (f", {without} without a recording." if without else ".")


def told_span(values: Iterable[float], told: Callable[[float], str]) -> str:
    """The least and the largest, or one of them where they read the same."""
    known = list(values)
    low, high = told(min(known)), told(max(known))
    return low if low == high else f"{low} to {high}"


def told_loss(loss: float) -> str:
    """4.6e-5 as 4.6 times a power of ten."""
    digits, power = f"{loss:.1e}".split("e")
    return rf"${digits}\times10^{{{int(power)}}}$"
