"""Figure S13: when weight decay stops."""

import numpy as np
import pandas as pd

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import LESS, SATURATED
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.studies.duality.spectra import by_stretch
from flatlas.studies.duality.strategies import ENDS, Layer
from flatlas.studies.duality.trends import change, from_value, nearest

KEY, SYMBOL = "penalty.until_epoch", "t_β"
DECAY = "penalty.coefficient"
SATURATES = 200


def judge(material: Material) -> list[Claim]:
    """The three panels; t_β = 0 are the nets that never had weight decay."""
    joined = with_none(material)
    times = (0, *(time for time in Sweep(joined, "decay_time", KEY).solutions if time))
    layer = Layer(Sweep(joined, "decay_time", KEY, times), SYMBOL, "time")
    size, gap = layer.net("S_w"), layer.net("dual_gap")
    return [
        layer.keeps_spectrum("sharpness", "", by_stretch(layer.sharpness, layer.last)),
        layer.sweep.claim(
            "time_size",
            f"S_w falls as {SYMBOL} rises",
            f"relative change of mean S_w {ENDS}",
            LESS,
            change,
            size,
        ),
        _saturates(layer, "time_size_saturates", "S_w", size),
        _saturates(layer, "time_gap_saturates", "ΔL", gap),
    ]


def _saturates(layer: Layer, name: str, what: str, over: np.ndarray) -> Claim:
    times = layer.sweep.values
    place = nearest(times, SATURATES)
    at = f"{SYMBOL} = {times[place]:g}" if len(times) > 1 else f"the {SYMBOL} nearest to 200"
    return layer.sweep.claim(
        name,
        f"{what} saturates for {SYMBOL} ≥ 200 epochs",
        f"relative change of mean {what} from {at} to the last",
        SATURATED,
        from_value(place),
        over,
    )


def with_none(material: Material) -> Material:
    """The sweep over t_β with the nets without decay (β = 0) at its beginning, as t_β = 0."""
    tables: dict[str, pd.DataFrame] = {}
    for name, table in material.tables.items():
        known = table.reindex(columns=list(dict.fromkeys([*table.columns, DECAY, KEY])))
        timed = known[known["sweep"] == "decay_time"]
        none = known[(known["sweep"] == "decay") & (known[DECAY] == 0)]
        if len(none) and len(timed):
            none = none.assign(sweep="decay_time", **{KEY: 0})
            timed = pd.concat([none, timed], ignore_index=True)
        tables[name] = timed
    return Material(tables)
