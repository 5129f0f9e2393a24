"""Figure S12: weight decay in each layer of the net of four hidden layers.

Claims: Figure S12: weight decay finds smaller solutions in every layer.
"""

from flatlas.claims.claim import Claim
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.duality.layers import draw_layers
from flatlas.studies.duality.strategies import layer_pairs


def draw(material: Material) -> Drawing:
    """One row of panels a layer."""
    return draw_layers(material, "decay_deep", "penalty.coefficient")


def claims(material: Material) -> list[Claim]:
    """Figure 4's claims of weight decay, for each of the three pairs of hidden layers."""
    sweep = Sweep(material, "decay_deep", "penalty.coefficient")
    return [claim for layer in layer_pairs(sweep, "β") for claim in layer.smaller(rises=False)]
