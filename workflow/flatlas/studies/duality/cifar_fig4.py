"""Figure 4 again, of the convolutional net on CIFAR-10, whose layer is 120 x 25.

Claims: Whether Figure 4's claims hold of the convolutional net on CIFAR-10.
"""

from flatlas.claims.claim import Claim, ours
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.duality.fig4 import judge_sweeps
from flatlas.studies.duality.sweeps import draw_sweeps


def draw(material: Material) -> Drawing:
    """One row of panels a sweep."""
    sweeps = ("cifar_decay", "penalty.coefficient"), ("cifar_init", "net.init.scale")
    return draw_sweeps(material, *sweeps)


def claims(material: Material) -> list[Claim]:
    """The paper analyzes this net too, and shows and says nothing of it."""
    return ours(judge_sweeps(material, "cifar_decay", "cifar_init"))
