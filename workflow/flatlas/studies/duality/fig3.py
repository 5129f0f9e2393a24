"""Figure 3: sharpness, size and gap against learning rate (A-C) and batch size (D-F)."""

from flatlas.evidence.material import Material
from flatlas.studies.duality.sweeps import draw_sweeps
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """One row of panels a sweep."""
    return draw_sweeps(material, ("alpha", "optimizer.lr"), ("batch", "batch"))
