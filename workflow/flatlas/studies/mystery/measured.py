"""The local measures of nets where they first have zero error, as arrays."""

import numpy as np

from flatlas.claims.correlations import Quantity
from flatlas.claims.nets import Nets
from flatlas.evidence.material import ZERO_ERROR


def from_summary(nets: Nets, column: str, measure: str = "regret") -> Quantity:
    """What the regret tells of each net (realizations, runs), which takes no search."""
    values = _only(_read(nets, f"{measure}_summary", column, "factor"))
    return Quantity(values, np.full_like(values, np.nan))


def in_ball(nets: Nets, damped: bool) -> Quantity:
    """The regret in a KL-ball, without damping or with the largest."""
    place = -1 if damped else 0
    values, settled = (
        _only(_read(nets, "regret_kl_ball", name, "damping", "factor"), place)
        for name in ("regret", "converged")
    )
    return Quantity(values, settled)


def of_flatness(nets: Nets, column: str, flatness: str) -> Quantity:
    """The `contrast` by one kind of flatness, or the flatness `of_mean`."""
    place = place_of(nets, "contrast_summary", "flatness", flatness)
    values, settled = (
        _only(_read(nets, "contrast_summary", name, "flatness", "factor"), place)
        for name in (column, "converged")
    )
    return Quantity(values, settled)


def place_of(nets: Nets, table: str, axis: str, label: str) -> int | None:
    """Where a label stands on an axis of what is read; nowhere where nothing was measured."""
    known = labels(nets, table, axis)
    return known.index(label) if label in known else None


def labels(nets: Nets, table: str, axis: str) -> list[object]:
    """The labels on an axis of what is read, ascending."""
    rows = nets.material.tables[table].reindex(columns=[axis])
    return sorted(rows[axis].dropna().unique())


def _read(nets: Nets, table: str, column: str, *axes: str) -> np.ndarray:
    return nets.read(table, column, *axes, at=ZERO_ERROR)


def _only(measured: np.ndarray, place: int | None = None) -> np.ndarray:
    """At a place of the third axis, if there is one beside the factors; these are 1 alone."""
    if not measured.size:
        return np.full(measured.shape[:2], np.nan)
    unscaled = measured[..., 0]
    return unscaled if unscaled.ndim == 2 else unscaled[..., place]
