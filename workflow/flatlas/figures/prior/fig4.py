"""Figure 4: prior and flatness against generalization, for three optimizers."""

from flatlas.figures.prior.scatter import OPTIMIZERS, PRIOR_AND_FLATNESS
from flatlas.figures.prior.systems import draw_systems
from flatlas.figures.style import Drawing
from flatlas.store.material import Material


def draw(material: Material) -> Drawing:
    """A column an optimizer; the prior above, flatness below."""
    return draw_systems(material, OPTIMIZERS, PRIOR_AND_FLATNESS)
