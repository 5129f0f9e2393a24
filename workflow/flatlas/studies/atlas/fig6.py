"""Figure 6: how often a measure is right about a change of one setting."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, Claims
from flatlas.claims.conventions import COIN, RIGHT
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, GREY, SKY, Drawing, note, panels, written
from flatlas.statistics.estimate import least
from flatlas.studies.atlas.changes import changes, right, right_on_average
from flatlas.studies.atlas.nets import AXES, CROSSED, Along, along, factors, nets, words_of
from flatlas.studies.atlas.quantities import BASELINES, QUANTITIES
from flatlas.studies.atlas.ranking import ASKED, by_size, on_ranks
from flatlas.studies.atlas.styles import draw_intervals, small_print, styles, words_on_the_right

# What a practitioner changes, by axis. All optimizers are compared, otherwise neighbouring values.
PRACTICE = ("rate", "batch", "decay", "init", "width", "depth", "optimizer", "radius", "beyond")
UNORDERED = "optimizer"
MEAN = "mean of all"
COLUMNS = ["measure", "pairs", "environment", "count", "right", "low", "high"]


def draw(material: Material) -> Drawing:
    """Left: the share of changes about which a measure is right. Right: its worst environment."""
    table = nets(material)
    kinds = {"practice": practice(table), "crossed": environments(table)}
    rows = [row for kind, pairs in kinds.items() for row in _rows(table, kind, pairs)]
    points = pd.DataFrame(rows, columns=COLUMNS)
    means = points[(points["pairs"] == "practice") & (points["environment"] == MEAN)]
    order = by_size(means.set_index("measure")["right"])
    figure, axes = panels(1, 2, width=4.4, height=0.29 * len(order) + 1.4)
    _practice(axes[0], points[points["pairs"] == "practice"], order, styles(table))
    _worst(axes[1], points[points["pairs"] == "crossed"], order)
    for ax in axes:
        ax.set(ylim=(len(order) - 0.4, -0.6), xlim=(-0.03, 1.03))
        ax.set_yticks(range(len(order)), [QUANTITIES[name].label for name in order])
        ax.axhline(len(BASELINES) - 0.5, color=GREY, lw=0.8, ls=":")
        ax.axvline(0.5, color=BLACK, lw=0.8)
    axes[1].set_yticklabels([])
    figure.legend(loc="outside upper center", ncols=5)
    counts = {kind: len(pairs) for kind, pairs in kinds.items()}
    note(
        figure,
        "Each change counts as much as it moves the mean gap over realizations. "
        f"Left: {counts['practice']} pairs of nets; right: {counts['crossed']}. Lines: "
        "95 % intervals over realizations. " + small_print(material, table),
    )
    return Drawing(figure, points)


def practice(table: pd.DataFrame) -> pd.DataFrame:
    """Pairs before and after a change that a practitioner makes; an environment for each axis."""
    parts = [
        changes(along(table, axis), neighbours=axis != UNORDERED).assign(environment=axis)
        for axis in PRACTICE
    ]
    return pd.concat(parts, ignore_index=True)


def environments(table: pd.DataFrame) -> pd.DataFrame:
    """Pairs of the crossed design; an environment for each pair of values of a setting."""
    parts = [_named(key, some) for key, some in factors(table).items()]
    return pd.concat(parts, ignore_index=True) if parts else practice(table).iloc[:0]


def _named(key: str, some: Along) -> pd.DataFrame:
    found = changes(some, neighbours=False)
    values = some.nets[key].groupby(some.values).first().map(written)
    ends = (values.reindex(found[f"values_{when}"]).to_numpy() for when in ("before", "after"))
    names = [f"{words_of(key)} {before} → {after}" for before, after in zip(*ends, strict=True)]
    return found.assign(environment=names)


def _rows(table: pd.DataFrame, kind: str, pairs: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    counts = pairs["environment"].value_counts().to_dict() | {MEAN: len(pairs)}
    for name in (*BASELINES, *ASKED):
        found = right(pairs, table[name])
        if kind == "practice":
            found[MEAN] = right_on_average(pairs, table[name])
        for environment, one in found.items():
            yield name, kind, environment, counts[environment], one.value, one.low, one.high


def _practice(
    ax: Axes, points: pd.DataFrame, order: list[str], colours: dict[str, tuple[str, str]]
) -> None:
    """A bar for the mean over axes, a dot for each axis."""
    means = points[points["environment"] == MEAN].set_index("measure").reindex(order)
    shades = ["0.75" if name in BASELINES else SKY for name in order]
    ax.barh(range(len(order)), means["right"].fillna(0), height=0.66, color=shades, alpha=0.75)
    draw_intervals(ax, range(len(order)), means)
    for axis in PRACTICE:
        some = points[points["environment"] == axis]
        at = [order.index(name) for name in some["measure"]]
        colour, sign = colours.get(axis, (GREY, "o"))
        ax.plot(some["right"], at, sign, color=colour, ms=3.5, mew=0, label=AXES[axis][0])
    ax.axvline(RIGHT.low, color=GREY, lw=0.8, ls="--")
    ax.set_xlabel("right about a practitioner's changes, share")


def _worst(ax: Axes, points: pd.DataFrame, order: list[str]) -> None:
    """All environments of the crossed design, and the words of the worst."""
    at = [order.index(name) for name in points["measure"]]
    ax.plot(points["right"], at, "|", color=GREY, ms=7)
    worst = points.sort_values("right").drop_duplicates("measure").set_index("measure")
    worst = worst.reindex(order)
    ax.plot(worst["right"], range(len(order)), "o", color=BLACK, ms=4)
    draw_intervals(ax, range(len(order)), worst)
    words_on_the_right(ax, [*worst["environment"].fillna("")])
    ax.set_xlabel("right in each environment, share")


def claims(material: Material) -> Claims:
    """For each measure: whether it is right about changes, also in the worst environment."""
    table = nets(material)
    made, designed = practice(table), environments(table)
    for name, measure in ASKED.items():
        changed = Claim(
            f"{name}_right",
            f"the {measure.words} moves with at least two thirds of what changes of one setting "
            "move the gap",
            "share of changes of " + ", ".join(AXES[axis][0] for axis in PRACTICE) + " to the next "
            "value, or of the optimizer to another, that it is right about, each counted by how "
            "much it moves the mean gap; mean over these axes",
            RIGHT,
            right_on_average(made, table[name]),
        )
        yield on_ranks(changed, name, table[table["sweep"].isin(PRACTICE)])
        found = [one for one in right(designed, table[name]).values() if np.isfinite(one.low)]
        robust = Claim(
            f"{name}_worst",
            f"the {measure.words} misleads in no environment of the crossed design",
            "the same share for the change between two values of one setting where it is least",
            COIN,
            least(found, designed["realizations"].nunique()),
        )
        yield on_ranks(robust, name, table[table["sweep"] == CROSSED])
