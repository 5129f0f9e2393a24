"""Figure S9: smaller batches find flatter solutions in every layer of the deep net."""

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.duality.strategies import layer_pairs
from flatlas.studies.duality.sweeps import draw_layers


def draw(material: Material) -> Drawing:
    """A row of panels for each layer."""
    return draw_layers(material, "batch_deep")


def claims(material: Material) -> list[Claim]:
    """Figure 3's claims about the batch size, for each layer."""
    layers = layer_pairs(material, "batch_deep")
    return [claim for layer in layers for claim in layer.flatter(rises=True)]
