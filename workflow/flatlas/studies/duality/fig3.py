"""Figure 3: larger learning rates (A-C) and smaller batches (D-F) find flatter solutions."""

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.duality.strategies import flatter_solutions
from flatlas.studies.duality.sweeps import draw_sweeps


def draw(material: Material) -> Drawing:
    """A row of panels for each sweep."""
    return draw_sweeps(material, "alpha", "batch")


def claims(material: Material) -> list[Claim]:
    """The claims about both rows, and the share of the ten sharpest directions."""
    return list(flatter_solutions(material, "alpha", "batch", half="about 50 %"))
