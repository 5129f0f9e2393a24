"""Figure S9: smaller batches find flatter solutions in every layer."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.studies.duality.strategies import layer_pairs
from flatlas.claims.nets import Sweep


def judge(material: Material) -> list[Claim]:
    """Figure 3's claims of the batch size, for each of the three pairs of hidden layers."""
    sweep = Sweep(material, "batch_deep", "batch")
    return [claim for layer in layer_pairs(sweep, "B") for claim in layer.flatter(rises=True)]
