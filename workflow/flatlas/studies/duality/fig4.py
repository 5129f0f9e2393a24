"""Figure 4: sharpness, size and gap against weight decay (A-C) and initial weights (D-F).

Claims: Figure 4: weight decay and small initial weights find smaller solutions.
"""

from flatlas.claims.claim import Claim
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.duality.strategies import Layer
from flatlas.studies.duality.sweeps import draw_sweeps


def draw(material: Material) -> Drawing:
    """One row of panels a sweep."""
    return draw_sweeps(material, ("decay", "penalty.coefficient"), ("init", "net.init.scale"))


def claims(material: Material) -> list[Claim]:
    """Panels A-C and D-F."""
    return judge_sweeps(material, "decay", "init")


def judge_sweeps(material: Material, decays: str, scales: str) -> list[Claim]:
    """The figure's claims of a sweep over rates of weight decay and of one over initial scales."""
    decay = Layer(Sweep(material, decays, "penalty.coefficient"), "β", "decay")
    init = Layer(Sweep(material, scales, "net.init.scale"), "s", "init")
    return [
        *decay.smaller(rises=False),
        decay.stays("gap_sharp", "ΔL_s", decay.net("gap_sharp")),
        *init.smaller(rises=True),
    ]
