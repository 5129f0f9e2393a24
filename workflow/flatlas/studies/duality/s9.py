"""Figure S9: batch size in each layer of the net of four hidden layers.

Claims: Figure S9: smaller batches find flatter solutions in every layer.
"""

from flatlas.claims.claim import Claim
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.duality.layers import draw_layers
from flatlas.studies.duality.strategies import layer_pairs


def draw(material: Material) -> Drawing:
    """One row of panels a layer."""
    return draw_layers(material, "batch_deep", "batch")


def claims(material: Material) -> list[Claim]:
    """Figure 3's claims of the batch size, for each of the three pairs of hidden layers."""
    sweep = Sweep(material, "batch_deep", "batch")
    return [claim for layer in layer_pairs(sweep, "B") for claim in layer.flatter(rises=True)]
