"""Not in the paper: Figure 3 of the convolutional net on CIFAR-10, whose layer is 120 x 25."""

from flatlas.claims.claim import Claim, ours
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.duality.strategies import flatter_solutions
from flatlas.studies.duality.sweeps import draw_sweeps


def draw(material: Material) -> Drawing:
    """A row of panels for each sweep."""
    return draw_sweeps(material, "cifar_alpha", "cifar_batch")


def claims(material: Material) -> list[Claim]:
    """Figure 3's claims: the paper analyzes this net too, but shows nothing of it."""
    return ours(flatter_solutions(material, "cifar_alpha", "cifar_batch"))
