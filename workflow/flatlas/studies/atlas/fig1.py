"""Figure 1: how well each measure ranks nets by their gap, alone and given the baselines."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import CORRELATED, MORE
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, GREY, SKY, Drawing, note, panels
from flatlas.statistics.rank_correlation import tau
from flatlas.studies.atlas.nets import GAP, STUDY, nets, once
from flatlas.studies.atlas.quantities import BASELINES, MEASURES, QUANTITIES, other_baselines
from flatlas.studies.atlas.ranking import on_ranks
from flatlas.studies.atlas.styles import counted, small_print, styles

# Fewer runs of a study do not show an order.
FEWEST = 3
COLUMNS = ["measure", "pairs", "baseline", "runs", "tau", "low", "high", STUDY]


def draw(material: Material) -> Drawing:
    """A bar for each measure, its partial coefficient, and a dot for each study."""
    table = once(nets(material))
    rows = [row for name in QUANTITIES for row in _rows(table, name)]
    points = pd.DataFrame(rows, columns=COLUMNS)
    order = [*_sorted(points, BASELINES), *_sorted(points, MEASURES)]
    figure, (ax,) = panels(1, 1, width=7.2, height=0.31 * len(order) + 1.2)
    for place, name in enumerate(order):
        _bar(ax, place, points[points["measure"] == name], name in BASELINES)
    dots = points[points["pairs"] == "of one study"]
    colours = {study: style for study, style in styles(table).items() if study in set(dots[STUDY])}
    for study, (colour, sign) in colours.items():
        some = dots[dots[STUDY] == study]
        at = [order.index(name) for name in some["measure"]]
        ax.plot(some["tau"], at, sign, color=colour, ms=4, label=f"study {study} alone", mew=0)
    ax.plot([], [], "s", color=SKY, label="all pairs", ms=7)
    ax.plot([], [], "D", mfc="white", mec=BLACK, label="given the baselines", ms=4.5)
    ax.axhline(len(BASELINES) - 0.5, color=GREY, lw=0.8, ls=":")
    ax.axvline(0, color=BLACK, lw=0.8)
    ax.set(ylim=(len(order) - 0.4, -0.6), xlim=(-1.05, 1.05))
    ax.set_xlabel(r"Kendall's $\tau$ with the generalization gap")
    ax.set_yticks(range(len(order)), [QUANTITIES[name].label for name in order])
    ax.tick_params(axis="y", length=0)
    right = ax.secondary_yaxis("right")
    right.set_yticks(range(len(order)), [counted(table, name) for name in order], fontsize=6.5)
    right.tick_params(length=0, colors=GREY)
    right.spines["right"].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3)
    note(
        figure,
        "Lines: 95 % intervals over resampled runs; pale: too few runs for an interval. Given the "
        "baselines: only nets that reached zero error. " + small_print(material, table),
    )
    return Drawing(figure, points)


def _rows(table: pd.DataFrame, name: str) -> Iterator[dict[str, object]]:
    """τ of all pairs, given the baselines, and of the pairs of each study."""
    yield _tau(name, "all", table)
    yield _tau(name, "given the baselines", table, *other_baselines(name))
    for study, some in table.groupby(STUDY):
        if some.dropna(subset=[name])["run"].nunique() >= FEWEST:
            yield _tau(name, "of one study", some) | {STUDY: study}


def _tau(name: str, pairs: str, table: pd.DataFrame, *given: str) -> dict[str, object]:
    found = tau(table, name, GAP, table[STUDY], table["run"], given)
    runs = table.dropna(subset=[name, *given])["run"].nunique()
    row = {"measure": name, "pairs": pairs, "baseline": name in BASELINES, "runs": runs}
    return row | {"tau": found.value, "low": found.low, "high": found.high}


def _sorted(points: pd.DataFrame, names: Iterable[str]) -> list[str]:
    """By descending τ; unknown ones last."""
    whole = points[points["pairs"] == "all"].set_index("measure")["tau"]
    return list(whole[[*names]].sort_values(ascending=False, na_position="last").index)


def _bar(ax: Axes, place: int, rows: pd.DataFrame, baseline: bool) -> None:
    colour = "0.75" if baseline else SKY
    whole, given = (rows[rows["pairs"] == name] for name in ("all", "given the baselines"))
    # Without an interval a bar is pale: a long one would look the most certain of all.
    sure = whole["low"].notna().all()
    strength = 0.75 if sure else 0.25
    ax.barh(place, whole["tau"].fillna(0), height=0.66, color=colour, alpha=strength, zorder=0)
    _interval(ax, place - 0.12, whole, BLACK)
    _interval(ax, place + 0.22, given, GREY)
    ax.plot(given["tau"], [place + 0.22], "D", mfc="white", mec=BLACK, ms=4)


def _interval(ax: Axes, place: float, row: pd.DataFrame, colour: str) -> None:
    low, high = (float(row[end].iloc[0]) for end in ("low", "high"))
    if np.isfinite(low):
        ax.plot([low, high], [place, place], "-", color=colour, lw=1.1)


def claims(material: Material) -> list[Claim]:
    """For each measure: whether it ranks nets by their gap, and adds to the baselines."""
    return list(_claims(once(nets(material))))


def _claims(table: pd.DataFrame) -> Iterator[Claim]:
    for name, measure in MEASURES.items():
        ranks = Claim(
            f"{name}_ranks",
            f"the larger the {measure.words}, the larger the gap",
            f"Kendall's coefficient of the {measure.words} with the gap, over pairs of one study",
            CORRELATED["kendall"],
            tau(table, name, GAP, table[STUDY], table["run"]),
        )
        yield on_ranks(ranks, name, table)
        adds = Claim(
            f"{name}_adds",
            f"the {measure.words} says what epochs, loss, gradient and weight norm do not",
            "the same, given the four baselines",
            MORE,
            tau(table, name, GAP, table[STUDY], table["run"], BASELINES),
        )
        yield on_ranks(adds, name, table, *BASELINES)
