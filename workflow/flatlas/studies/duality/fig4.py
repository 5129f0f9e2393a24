"""Figure 4: weight decay (A-C) and small initial weights (D-F) find smaller solutions."""

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.duality.strategies import smaller_solutions
from flatlas.studies.duality.sweeps import draw_sweeps


def draw(material: Material) -> Drawing:
    """A row of panels for each sweep."""
    return draw_sweeps(material, "decay", "init")


def claims(material: Material) -> list[Claim]:
    """The claims about both rows."""
    return list(smaller_solutions(material, "decay", "init"))
