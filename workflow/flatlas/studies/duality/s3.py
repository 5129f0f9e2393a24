"""Figure S3: the correlation c_n by direction, for every sweep.

Claims: Figure S3: the correlation c_n of g and Δw.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import ALL, BARELY, BARELY_OFF
from flatlas.claims.nets import Nets, Sweep
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.statistics.means import mean
from flatlas.studies.duality.correlations import by_half_decade, correlations, level
from flatlas.studies.duality.spectra import draw_spectrum, spectrum
from flatlas.studies.duality.strategies import ENDS, WITHIN
from flatlas.studies.duality.swept import KEYS, SWEPT, SYMBOLS
from flatlas.studies.duality.trends import change


def draw(material: Material) -> Drawing:
    """A panel a sweep, all with the same axis, and room for legends above the lines."""
    figure, axes = panels(2, 4, width=2.6)
    points: list[pd.DataFrame] = []
    for ax, letter, (sweep, key) in zip(axes, "ABCDEFG", KEYS.items(), strict=False):
        directions = material.measured("hidden_directions", ["n", "correlation", key], sweep)
        drawn = spectrum(directions, key, "correlation")
        draw_spectrum(ax, drawn, key)
        if len(drawn):
            ax.legend(title=SYMBOLS[key], ncols=3, loc="upper center", columnspacing=0.8)
        points.append(drawn.assign(panel=letter))
    table = pd.concat(points, ignore_index=True)
    if len(table):
        low, high = (table[end].fillna(table["mean"]) for end in ("low", "high"))
        for ax in axes:
            ax.set_ylim(min(0, low.min()), 1.45 * high.max())
    axes[-1].remove()
    note(
        figure,
        "Lines: means over realizations and over ten bins of $n$ a decade; bands: one s.d. "
        + small_print(material),
    )
    return Drawing(figure, table)


def claims(material: Material) -> list[Claim]:
    """Of every net; then sweep by sweep.

    'Except for adding new data', says the paper: sizes and label noise are Figure S15's.
    """
    return [*_each_net(Nets(material)), *_each_sweep(material)]


def _each_net(nets: Nets) -> Iterator[Claim]:
    c = correlations(nets)
    parts = by_half_decade(c)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = mean(np.abs(parts / mean(parts, -1)[..., np.newaxis] - 1), -1)
        known = np.isfinite(c).sum(-1)
        positive = np.where(known > 0, (c >= 0).sum(-1) / known, np.nan)
    yield nets.claim(
        "constant",
        "c_n hardly depends on n",
        f"mean relative deviation of c_n from its mean, over half-decades of rank, {WITHIN}; mean"
        " over all nets",
        BARELY_OFF,
        lambda over: mean(mean(over), -1),
        deviation,
    )
    yield nets.claim(
        "positive",
        "0 ≤ c_n ≤ 1",
        f"share with c_n ≥ 0 of the {WITHIN}; mean over all nets (c_n ≤ 1 is a theorem)",
        ALL,
        lambda over: mean(mean(over), -1),
        positive,
    )


def _each_sweep(material: Material) -> Iterator[Claim]:
    for name, (key, symbol) in SWEPT.items():
        sweep = Sweep(material, name, key)
        yield sweep.claim(
            f"{name}_level",
            f"c_n does not depend on {symbol}",
            f"relative change of mean c_n {ENDS}, over half-decades of rank, {WITHIN} at every"
            " value",
            BARELY,
            change,
            level(sweep),
        )
