"""Figure S12: weight decay finds smaller solutions in every layer."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.studies.duality.strategies import layer_pairs
from flatlas.claims.nets import Sweep


def judge(material: Material) -> list[Claim]:
    """Figure 4's claims of weight decay, for each of the three pairs of hidden layers."""
    sweep = Sweep(material, "decay_deep", "penalty.coefficient")
    return [claim for layer in layer_pairs(sweep, "β") for claim in layer.smaller(rises=False)]
