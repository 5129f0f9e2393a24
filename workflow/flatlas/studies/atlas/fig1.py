"""Figure 1: how well each measure ranks nets that differ in several settings at once."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, Claims
from flatlas.claims.conventions import ADDS, USEFUL
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, GREY, SKY, Drawing, note, panels
from flatlas.statistics.estimate import Estimate
from flatlas.studies.atlas import ranking, styles
from flatlas.studies.atlas.nets import Along, crossed, factors, nets, words_of
from flatlas.studies.atlas.quantities import BASELINES, other_baselines
from flatlas.studies.atlas.ranking import ASKED, REPEATED, ranks_pairs

COLUMNS = ["measure", "pairs", "baseline", "tau", "low", "high"]


def draw(material: Material) -> Drawing:
    """A bar for each measure, its partial and granulated coefficients, a dot for each setting."""
    table = nets(material)
    whole, alone = ranking.with_repeated(crossed(table)), factors(table)
    rows = [row for name in (*BASELINES, *ASKED, REPEATED) for row in _rows(whole, alone, name)]
    points = pd.DataFrame(rows, columns=COLUMNS)
    taus = points[points["pairs"] == "all"].set_index("measure")["tau"]
    order = [*ranking.by_size(taus), REPEATED]
    figure, (ax,) = panels(1, 1, width=7.2, height=0.31 * len(order) + 1.2)
    for place, name in enumerate(order):
        _bar(ax, place, points[points["measure"] == name], name in ASKED)
    _dots(ax, points, order, [*alone])
    ax.plot([], [], "s", color=SKY, label="all pairs of a realization", ms=7)
    ax.plot([], [], "D", mfc="white", mec=BLACK, label="given the baselines", ms=4.5)
    for line in (len(BASELINES), len(BASELINES) + len(ASKED)):
        ax.axhline(line - 0.5, color=GREY, lw=0.8, ls=":")
    ax.axvline(0, color=BLACK, lw=0.8)
    ax.axvline(USEFUL.low, color=GREY, lw=0.8, ls="--")
    ax.set(ylim=(len(order) - 0.4, -0.6), xlim=(-1.05, 1.05))
    ax.set_xlabel(r"Kendall's $\tau$ with the generalization gap")
    ax.set_yticks(range(len(order)), [ranking.label_of(name) for name in order])
    ax.tick_params(axis="y", length=0)
    styles.words_on_the_right(ax, [styles.counted(whole.nets, name) for name in order])
    figure.legend(loc="outside upper center", ncols=3)
    note(
        figure,
        "Lines: 95 % intervals over realizations. Dashed: two of three pairs right. "
        + styles.small_print(material, table),
    )
    return Drawing(figure, points)


def _rows(whole: Along, alone: Mapping[str, Along], name: str) -> Iterator[tuple[object, ...]]:
    """Rows with τ: of all pairs, given the baselines, by setting, and the mean over settings."""
    found = {"all": ranking.ranked(whole, name)}
    if name != REPEATED:
        found["given the baselines"] = ranking.ranked(whole, name, other_baselines(name))
        each = {key: ranking.ranked(some, name) for key, some in alone.items()}
        values = [one.value for one in each.values()]
        mean = float(np.mean(values)) if values else np.nan
        found |= each | {"granulated": Estimate(mean, np.nan, np.nan)}
    for pairs, one in found.items():
        yield name, pairs, name in BASELINES, one.value, one.low, one.high


def _bar(ax: Axes, place: int, rows: pd.DataFrame, measure: bool) -> None:
    whole, given = (rows[rows["pairs"] == name] for name in ("all", "given the baselines"))
    colour = SKY if measure else "0.75"
    ax.barh(place, whole["tau"].fillna(0), height=0.66, color=colour, alpha=0.75, zorder=0)
    styles.draw_intervals(ax, [place - 0.12], whole)
    below = [place + 0.22] * len(given)
    styles.draw_intervals(ax, below, given, GREY)
    ax.plot(given["tau"], below, "D", mfc="white", mec=BLACK, ms=4)


def _dots(ax: Axes, points: pd.DataFrame, order: list[str], keys: list[str]) -> None:
    """A dot for each setting of the crossed design, and a line at their mean."""
    for key, (colour, sign) in zip(keys, styles.colours_and_markers(), strict=False):
        some = points[points["pairs"] == key]
        at = [order.index(name) for name in some["measure"]]
        label = f"only the {words_of(key)} differs"
        ax.plot(some["tau"], at, sign, color=colour, ms=3.5, label=label, mew=0)
    some = points[points["pairs"] == "granulated"]
    at = [order.index(name) for name in some["measure"]]
    ax.plot(some["tau"], at, "|", color=BLACK, ms=9, mew=1.5, label="granulated: mean of these")


def claims(material: Material) -> Claims:
    """For each measure: whether it ranks nets by their gap, whether it adds to the baselines."""
    some = crossed(nets(material))
    for name, measure in ASKED.items():
        ranks = Claim(
            f"{name}_ranks",
            f"of networks that differ in several settings, {ranks_pairs(measure.words)}",
            f"Kendall's coefficient of the {measure.words} with the gap, over pairs of one "
            "realization in the crossed design",
            USEFUL,
            ranking.ranked(some, name),
        )
        yield ranking.on_ranks(ranks, name, some.nets)
        adds = Claim(
            f"{name}_adds",
            f"given epochs, loss, gradient and weight norm, the {measure.words} still follows the"
            " gap",
            "the same, given the four baselines",
            ADDS,
            ranking.ranked(some, name, BASELINES),
        )
        yield ranking.on_ranks(adds, name, some.nets, *BASELINES)
