"""Figure 2: how each measure correlates with the gap, by what was varied."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, Claims
from flatlas.claims.conventions import USEFUL
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.statistics.estimate import least
from flatlas.studies.atlas import ranking
from flatlas.studies.atlas.heat import heat_map
from flatlas.studies.atlas.nets import AXES, STUDY, Along, along, known_in, nets
from flatlas.studies.atlas.quantities import BASELINES, MEASURES, other_baselines
from flatlas.studies.atlas.ranking import ASKED, REPEATED, ranks_pairs
from flatlas.studies.atlas.styles import small_print

COLUMNS = ["axis", "measure", "values", "count"] + [
    f"{kind}_{end}" for kind in ("plain", "given") for end in ("tau", "low", "high")
]
TITLES = {"plain": "plain", "given": "given the baselines"}
# Axes with a question about each measure: what is tuned first, and what every real data set has.
QUESTIONS = {"rate": "learning rate", "noise": "share of wrong labels"}


def draw(material: Material) -> Drawing:
    """Two heat maps: the granulated coefficient, plain and given the baselines."""
    table = nets(material)
    every = _axes(table)
    axes_of = {axis: some for axis, some in every.items() if len(some.nets)} or every
    measured = [*known_in(table[table["sweep"].isin([*axes_of])]), REPEATED]
    rows = [
        _row(axis, ranking.with_repeated(some), name)
        for axis, some in axes_of.items()
        for name in measured
    ]
    points = pd.DataFrame(rows, columns=COLUMNS)
    figure, axes = panels(1, 2, width=0.62 * len(axes_of) + 0.8, height=0.27 * len(measured) + 1.6)
    for ax, kind in zip(axes, TITLES, strict=True):
        _panel(ax, points, kind, measured, [*axes_of])
    axes[1].set_yticklabels([])
    note(
        figure,
        r"$\tau$ over pairs of nets of one realization that differ only in what is varied, and "
        "half the 95 % interval over realizations. Bold: the interval excludes 0. "
        + small_print(material, table),
    )
    return Drawing(figure, points)


def _axes(table: pd.DataFrame) -> dict[str, Along]:
    return {axis: along(table, axis) for axis in AXES}


def _row(axis: str, some: Along, name: str) -> dict[str, object]:
    known = some.nets[name].notna()
    row: dict[str, object] = {
        "axis": axis,
        "measure": name,
        "values": len(np.unique(some.values[known])),
        "count": int(known.sum()),
    }
    for kind in TITLES:
        given = other_baselines(name) if kind == "given" and name != REPEATED else []
        found = ranking.ranked(some, name, given)
        row |= {f"{kind}_tau": found.value, f"{kind}_low": found.low, f"{kind}_high": found.high}
    return row


def _panel(ax: Axes, points: pd.DataFrame, kind: str, names: list[str], axes: list[str]) -> None:
    def grid(column: str) -> np.ndarray:
        wide = points.pivot(index="measure", columns="axis", values=f"{kind}_{column}")
        return wide.reindex(index=names, columns=axes).to_numpy(float)

    taus, low, high = (grid(end) for end in ("tau", "low", "high"))
    text = np.vectorize(_with_half, otypes=[object])(taus, (high - low) / 2)
    heat_map(ax, taus, 1.0, text, bold=(low > 0) | (high < 0))
    ax.set_title(TITLES[kind])
    words = [AXES[axis][0] for axis in axes]
    ax.set_xticks(range(len(axes)), words, rotation=40, ha="right")
    ax.set_yticks(range(len(names)), [ranking.label_of(name) for name in names])
    for line in (sum(name in BASELINES for name in names), len(names) - 1):
        ax.axhline(line - 0.5, color="black", lw=0.8)


def _with_half(value: float, half: float) -> str:
    """A number with two decimals (no minus sign on zero), and half its interval if there is one."""
    words = f"{round(value, 2) + 0.0:.2f}"
    return f"{words} ±{half:.2f}".replace("±0.", "±.") if np.isfinite(half) else words


def claims(material: Material) -> Claims:
    """For each measure: whether it ranks nets along every axis, and along those of QUESTIONS."""
    table = nets(material)
    axes = _axes(table)
    for name in ASKED:
        yield _everywhere(table, axes, name)
        for axis in QUESTIONS:
            yield _along_one(axes[axis], name, axis)
    # Narrowness is measured where the training was recorded.
    yield _along_one(axes["recorded"], "pca_flatness", "rate")


def _along_one(some: Along, name: str, axis: str) -> Claim:
    words = MEASURES[name].words
    claim = Claim(
        f"{name}_{axis}",
        f"of networks that differ only in the {QUESTIONS[axis]}, {ranks_pairs(words)}",
        f"Kendall's coefficient of the {words} with the gap, over pairs of one realization",
        USEFUL,
        ranking.ranked(some, name),
    )
    return ranking.on_ranks(claim, name, some.nets)


def _everywhere(table: pd.DataFrame, axes: dict[str, Along], name: str) -> Claim:
    found = {axis: ranking.ranked(some, name) for axis, some in axes.items()}
    known = {axis: one for axis, one in found.items() if np.isfinite(one.low)}
    words = MEASURES[name].words
    seeds = table.groupby(STUDY)["seed"].nunique()
    least_of_all = least([*known.values()], seeds.min() if len(seeds) else 0)
    # One axis is enough to refute the claim; to confirm it takes all of them.
    others = [axis for axis in AXES if axis not in known and np.isfinite(found[axis].value)]
    missing = ""
    if others and not least_of_all.high <= USEFUL.low:
        missing = f"Too few values for an interval: {', '.join(AXES[axis][0] for axis in others)}."
    claim = Claim(
        f"{name}_everywhere",
        f"whatever is varied, {ranks_pairs(words)}",
        "the least of Kendall's coefficients over pairs of nets that differ only in one of "
        f"{', '.join(AXES[axis][0] for axis in known) or 'nothing'}",
        USEFUL,
        least_of_all,
    )
    return ranking.on_ranks(claim, name, table[table["sweep"].isin([*known])], missing=missing)
