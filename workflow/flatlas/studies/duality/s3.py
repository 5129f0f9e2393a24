"""Figure S3: the correlation c_n of g and Δw by direction, for every sweep."""

import numpy as np
import pandas as pd

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import ALL, BARELY, BARELY_OFF
from flatlas.claims.nets import Nets, pooled_nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, panels
from flatlas.statistics.means import mean
from flatlas.statistics.trends import average
from flatlas.studies.duality.directions import by_stretch, counted_each
from flatlas.studies.duality.layer import ENDS, WITHIN, Layer
from flatlas.studies.duality.realizations import BINNED, finish
from flatlas.studies.duality.spectra import draw_spectrum, spectrum
from flatlas.studies.duality.swept import SYMBOLS, varied

TABLE = "hidden_directions"
SWEEPS = ("alpha", "batch", "decay", "init", "size", "noise", "dropout")
# 'Except for adding new data', says the paper: Figure S15 judges these.
NEW_DATA = ("size", "noise")


def draw(material: Material) -> Drawing:
    """A panel for each sweep, all with the same axis, and room for legends above the lines."""
    figure, axes = panels(2, 4, width=2.6)
    points: list[pd.DataFrame] = []
    for ax, letter, sweep in zip(axes, "ABCDEFG", SWEEPS, strict=False):
        key, _ = varied(sweep)
        directions = material.measured(TABLE, sweep, key)
        drawn = spectrum(directions, key, "correlation")
        draw_spectrum(ax, drawn, key)
        if len(drawn):
            ax.legend(title=SYMBOLS[key], ncols=3, loc="upper center", columnspacing=0.8)
        points.append(drawn.assign(panel=letter))
    drawing = finish(figure, points, material, BINNED)
    if len(drawing.points):
        low, high = (drawing.points[end].fillna(drawing.points["mean"]) for end in ("low", "high"))
        for ax in axes:
            ax.set_ylim(min(0, low.min()), 1.45 * high.max())
    axes[-1].remove()
    return drawing


def claims(material: Material) -> Claims:
    """The claims about every net, and about each sweep."""
    yield from _each_net(pooled_nets(material, material.sweeps))
    yield from _each_sweep(material)


def _each_net(nets: Nets) -> Claims:
    counted = counted_each(nets.read(TABLE, "gap", "n"))
    c = np.where(counted, nets.read(TABLE, "correlation", "n"), np.nan)
    parts = by_stretch(c, c.shape[-1])
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
        average,
        deviation,
    )
    yield nets.claim(
        "positive",
        "0 ≤ c_n ≤ 1",
        f"share with c_n ≥ 0 of the {WITHIN}; mean over all nets (c_n ≤ 1 is a theorem)",
        ALL,
        average,
        positive,
    )


def _each_sweep(material: Material) -> Claims:
    for sweep in SWEEPS:
        if sweep not in NEW_DATA:
            layer = Layer(material, sweep)
            what = f"mean c_n {ENDS}, over half-decades of rank, {WITHIN} at every value"
            says = f"c_n does not depend on {layer.symbol}"
            yield layer.changes(f"{sweep}_level", says, what, BARELY, layer.correlation)
