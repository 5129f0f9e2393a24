"""Figure S14: sharpness, size and gap against dropout."""

from flatlas.evidence.material import Material
from flatlas.studies.duality.sweeps import draw_sweeps
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """One row of panels."""
    return draw_sweeps(material, ("dropout", "net.dropout"))
