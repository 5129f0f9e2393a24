"""Figure S14, and the same with the published program's dropout: flatter and larger solutions."""

from dataclasses import dataclass, replace

import numpy as np

from flatlas.claims.claim import Claim, Claims, ours
from flatlas.claims.conventions import LESS, MOSTLY, SATURATED
from flatlas.claims.trust import unlearnt
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.statistics.means import mean
from flatlas.statistics.trends import change_of_logs, ratio
from flatlas.studies.duality.directions import sharpest
from flatlas.studies.duality.layer import ENDS, Layer, named
from flatlas.studies.duality.sweeps import draw_sweeps

SHARP = "σ_g in the 10 sharpest directions"


@dataclass(frozen=True)
class Dropped:
    """A sweep over the dropout rate d; `reading` ends the sentences of its claims."""

    sweep: str
    reading: str = ""

    def draw(self, material: Material) -> Drawing:
        """One row of panels."""
        return draw_sweeps(material, self.sweep)

    def claims(self, material: Material) -> Claims:
        """The claims about the panels, and about which part of ΔL dominates at either end."""
        return named("dropout", _claims(Layer(material, self.sweep)), self.reading)


def _claims(layer: Layer) -> Claims:
    """The claims of the SI, §2."""
    gap, sharp, flat = (layer.net(name) for name in ("dual_gap", "gap_sharp", "gap_flat"))
    sharpness = sharpest(layer.sharpness)
    yield layer.changes(
        "sharpness",
        "σ_g,n falls in the sharpest directions as d rises",
        f"the geometric mean of {SHARP} {ENDS}",
        LESS,
        sharpness,
        change_of_logs,
    )
    yield layer.whole.claim(
        "sharpness_saturates",
        "then it saturates",
        f"relative change of the geometric mean of {SHARP} from the last value but one to the last",
        SATURATED,
        lambda over: change_of_logs(over[..., -2:]),
        sharpness,
    )
    yield layer.follows("size", "S_w", layer.net("S_w"), rises=True)
    yield layer.whole.claim(
        "minimum",
        "ΔL has a minimum in between",
        "lowest mean ΔL at a d in between, relative to the lower of both ends, less 1",
        LESS,
        _dip,
        gap,
    )
    yield layer.follows("gap_sharp", "ΔL_s", sharp, rises=False)
    yield layer.follows("gap_flat", "ΔL_f", flat, rises=True)
    yield _dominates(layer, "ΔL_s", "low", 0, sharp, gap)
    yield _dominates(layer, "ΔL_f", "high", -1, flat, gap)
    yield from ours([layer.solved()])


def _dominates(
    layer: Layer, part: str, where: str, place: int, over: np.ndarray, gap: np.ndarray
) -> Claim:
    """A claim about the nets at one end of the sweep, which needs no nets at other values."""
    claim = layer.whole.claim(
        where,
        f"{part} dominates ΔL at {where} d",
        f"share of {part} in mean ΔL at the {where}est d",
        MOSTLY,
        lambda over, gap: ratio(over[..., place], gap[..., place]),
        over,
        gap,
    )
    values, planned = layer.sweep.values, [*layer.sweep.solutions]
    there = bool(values) and values[place] == planned[place]
    return replace(claim, complete=there and not unlearnt(layer.sweep.test_error))


def _dip(over: np.ndarray) -> np.ndarray:
    means = mean(over)
    if means.shape[-1] < 3:
        return np.full(means.shape[:-1], np.nan)
    return np.asarray(means[..., 1:-1].min(-1) / means[..., [0, -1]].min(-1) - 1)


FIGURES = {
    "s14": Dropped("dropout"),
    # The program drops only what enters the analysed layer.
    "s14_program": Dropped("program_dropout", ", with the program's dropout"),
}
