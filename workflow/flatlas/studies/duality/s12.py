"""Figure S12: weight decay in each layer of the net of four hidden layers."""

from flatlas.evidence.material import Material
from flatlas.studies.duality.layers import draw_layers
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """One row of panels a layer."""
    return draw_layers(material, "decay_deep", "penalty.coefficient")
