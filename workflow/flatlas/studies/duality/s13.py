"""Figure S13: sharpness, size and gap against the epoch t_β at which weight decay stops."""

import numpy as np
import pandas as pd

from flatlas.claims.claim import Claim, Claims
from flatlas.claims.conventions import LESS, SATURATED
from flatlas.evidence.material import Material, with_settings
from flatlas.plotting.style import Drawing, panels
from flatlas.statistics.trends import from_value, nearest
from flatlas.studies.duality.directions import by_stretch
from flatlas.studies.duality.layer import ENDS, Layer, named
from flatlas.studies.duality.realizations import finish
from flatlas.studies.duality.sweeps import SWEEP_LEGEND, sweep_row
from flatlas.studies.duality.swept import varied

# The paper's ΔL has saturated at this epoch.
SATURATES = 200


def draw(material: Material) -> Drawing:
    """One row of panels."""
    figure, axes = panels(1, 3)
    points = sweep_row(axes, "ABC", with_none(material), "decay_time")
    return finish(figure, points, material, SWEEP_LEGEND)


def with_none(material: Material) -> Material:
    """The sweep over t_β, beginning with the nets without decay (β = 0) as t_β = 0."""
    (strength, _), (until, _) = varied("decay"), varied("decay_time")
    tables: dict[str, pd.DataFrame] = {}
    for name, table in material.tables.items():
        timed = table[table["sweep"] == "decay_time"]
        known = with_settings(table, [strength])
        none = table[(table["sweep"] == "decay") & (known[strength] == 0)]
        if len(none) and len(timed):
            none = none.assign(sweep="decay_time", **{until: 0})
            timed = pd.concat([none, timed], ignore_index=True)
        tables[name] = timed
    return Material(tables)


def claims(material: Material) -> Claims:
    """The claims about the three panels."""
    joined = with_none(material)
    planned = Layer(joined, "decay_time").sweep.solutions
    times = (0, *(time for time in planned if time))
    layer = Layer(joined, "decay_time", order=times)
    size, gap = layer.net("S_w"), layer.net("dual_gap")
    found = [
        layer.keeps_spectrum("sharpness", "", by_stretch(layer.sharpness, layer.last)),
        layer.changes("size", f"S_w falls as {layer.symbol} rises", f"mean S_w {ENDS}", LESS, size),
        _saturates(layer, "size_saturates", "S_w", size),
        _saturates(layer, "gap_saturates", "ΔL", gap),
    ]
    return named("time", found)


def _saturates(layer: Layer, name: str, what: str, over: np.ndarray) -> Claim:
    times = layer.sweep.values
    place = nearest(times, SATURATES)
    symbol = layer.symbol
    at = f"{symbol} = {times[place]:g}" if len(times) > 1 else f"the {symbol} nearest to 200"
    says = f"{what} saturates for {symbol} ≥ 200 epochs"
    quantity = f"relative change of mean {what} from {at} to the last"
    return layer.whole.claim(name, says, quantity, SATURATED, from_value(place), over)
