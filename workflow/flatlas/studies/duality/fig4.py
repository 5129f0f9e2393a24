"""Figure 4: sharpness, size and gap against weight decay (A-C) and initial weights (D-F)."""

from flatlas.evidence.material import Material
from flatlas.studies.duality.sweeps import draw_sweeps
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """One row of panels a sweep."""
    return draw_sweeps(material, ("decay", "penalty.coefficient"), ("init", "net.init.scale"))
