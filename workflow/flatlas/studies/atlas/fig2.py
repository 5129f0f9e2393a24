"""Figure 2: how each measure correlates with the gap, by what was varied."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import MORE
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.statistics.estimate import UNKNOWN, Estimate
from flatlas.statistics.rank_correlation import tau
from flatlas.studies.atlas.heat import heat_map
from flatlas.studies.atlas.nets import AXES, GAP, Along, along, nets
from flatlas.studies.atlas.quantities import BASELINES, MEASURES, QUANTITIES, other_baselines
from flatlas.studies.atlas.ranking import on_ranks
from flatlas.studies.atlas.styles import small_print

TITLES = {"plain": "plain", "given": "given the baselines"}


def draw(material: Material) -> Drawing:
    """Two heat maps: the granulated coefficient, plain and given the baselines."""
    table = nets(material)
    measured = _measured(table[table["sweep"].isin([*AXES])])
    axes_of = {axis: along(table, axis) for axis in AXES}
    points = pd.DataFrame(
        [_row(axis, some, name) for axis, some in axes_of.items() for name in measured]
    )
    figure, axes = panels(1, 2, width=4.3, height=0.27 * len(measured) + 1.6)
    for ax, kind in zip(axes, TITLES, strict=True):
        _panel(figure, ax, points, kind, measured)
    axes[1].set_yticklabels([])
    note(
        figure,
        r"$\tau$ over pairs of nets that differ only in what is varied. Bold: the 95 % interval "
        "over the chosen values excludes 0; fewer than five values, or nine with the baselines, "
        "have no interval. Empty: not measured, or nothing to compare. "
        + small_print(material, table),
    )
    return Drawing(figure, points)


def _measured(table: pd.DataFrame) -> list[str]:
    """The quantities that are known for any net; all of them if none is known."""
    return [name for name in QUANTITIES if table[name].notna().any()] or [*QUANTITIES]


def _row(axis: str, some: Along, name: str) -> dict[str, object]:
    row: dict[str, object] = {
        "axis": axis,
        "measure": name,
        "values": len(np.unique(some.values[some.nets[name].notna()])),
    }
    for kind, given in (("plain", []), ("given", other_baselines(name))):
        found = tau(some.nets, name, GAP, some.settings, some.values, given)
        row |= {f"{kind}_tau": found.value, f"{kind}_low": found.low, f"{kind}_high": found.high}
    return row


def _hundredths(value: float) -> str:
    """Two decimals, without a minus sign on zero."""
    return f"{round(value, 2) + 0.0:.2f}"


def _panel(figure: Figure, ax: Axes, points: pd.DataFrame, kind: str, names: list[str]) -> None:
    def grid(column: str) -> np.ndarray:
        wide = points.pivot(index="measure", columns="axis", values=column)
        return wide.reindex(index=names, columns=[*AXES]).to_numpy(float)

    taus, low, high = (grid(f"{kind}_{end}") for end in ("tau", "low", "high"))
    heat_map(ax, taus, 1.0, text=_hundredths, bold=(low > 0) | (high < 0))
    ax.set_title(TITLES[kind])
    ax.set_xticks(range(len(AXES)), [words for words, _ in AXES.values()], rotation=40, ha="right")
    ax.set_yticks(range(len(names)), [QUANTITIES[name].label for name in names])
    ax.axhline(len([name for name in names if name in BASELINES]) - 0.5, color="black", lw=0.8)


def claims(material: Material) -> list[Claim]:
    """For each measure: whether it rises with the gap along every axis."""
    return list(_claims(nets(material)))


def _claims(table: pd.DataFrame) -> Iterator[Claim]:
    axes = {axis: along(table, axis) for axis in AXES}
    for name, measure in MEASURES.items():
        found = {axis: _tau(some, name) for axis, some in axes.items()}
        known = {axis: one for axis, one in found.items() if np.isfinite(one.low)}
        least = _least([*known.values()])
        # One axis is enough to refute the claim; to confirm it takes all of them.
        open_axes = [axis for axis in AXES if axis not in known and np.isfinite(found[axis].value)]
        missing = "" if least.high <= 0 else _without_interval(open_axes)
        everywhere = Claim(
            f"{name}_everywhere",
            f"whatever is varied, the larger the {measure.words}, the larger the gap",
            "the least of Kendall's coefficients over pairs of nets that differ only in one of "
            f"{', '.join(AXES[axis][0] for axis in known) or 'nothing'}",
            MORE,
            least,
        )
        yield on_ranks(everywhere, name, table[table["sweep"].isin([*known])], missing=missing)


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
