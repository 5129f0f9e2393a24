"""Figure 2: whether a measure goes with the gap whatever is varied."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from flatlas.evidence.atlas import AXES, GAP, MEASURES, Along, along, nets
from flatlas.evidence.material import Material
from flatlas.studies.atlas.ranking import Ranked
from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import MORE
from flatlas.statistics.estimate import UNKNOWN, Estimate
from flatlas.statistics.rank_correlation import tau


def judge(material: Material) -> list[Claim]:
    """A question of each measure that any of the axes has."""
    return ours(_claims(nets(material)))


def _claims(table: pd.DataFrame) -> Iterator[Claim]:
    axes = {axis: along(table, axis) for axis in AXES}
    for name, measure in MEASURES.items():
        found = {axis: _tau(some, name) for axis, some in axes.items()}
        known = {axis: one for axis, one in found.items() if np.isfinite(one.low)}
        least = _least([*known.values()])
        # One axis along which it is not so is enough; that it is so takes all of them.
        open_axes = [axis for axis in AXES if axis not in known and np.isfinite(found[axis].value)]
        missing = "" if least.high <= 0 else _without_interval(open_axes)
        yield Ranked.of(table[table["sweep"].isin([*known])], name).claim(
            f"{name}_everywhere",
            f"whatever is varied, the larger the {measure.name}, the larger the gap",
            "the least of Kendall's coefficients over pairs of nets that differ only in one of "
            f"{', '.join(AXES[axis][0] for axis in known) or 'nothing'}",
            MORE,
            least,
            missing,
        )


def _tau(some: Along, name: str) -> Estimate:
    return tau(some.nets, name, GAP, some.settings, some.values)


def _without_interval(axes: list[str]) -> str:
    words = ", ".join(AXES[axis][0] for axis in axes)
    return f"Too few values for an interval: {words}." if axes else ""


def _least(found: list[Estimate]) -> Estimate:
    """The least value; its interval ends at the least of each end."""
    if not found:
        return UNKNOWN
    ends = [[one.value, one.low, one.high] for one in found]
    return Estimate(*map(float, np.min(ends, axis=0)))
