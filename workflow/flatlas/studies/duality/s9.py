"""Figure S9: batch size in each layer of the net of four hidden layers."""

from flatlas.evidence.material import Material
from flatlas.studies.duality.layers import draw_layers
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """One row of panels a layer."""
    return draw_layers(material, "batch_deep", "batch")
