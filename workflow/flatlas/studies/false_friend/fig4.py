"""Figure 4: what L2 does to the Hessian's norms and to the accuracy, on colour images."""

from flatlas.evidence.material import Material
from flatlas.studies.false_friend.grid import draw_grid
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """A row a net: the norms, ‖w‖ and the test accuracy over the strength of L2."""
    return draw_grid(material)
