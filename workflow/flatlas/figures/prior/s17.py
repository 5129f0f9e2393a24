"""Figure S17: prior and flatness against generalization, for a residual net under Adam."""

from flatlas.figures.prior.scatter import PRIOR_AND_FLATNESS, SYSTEMS
from flatlas.figures.prior.systems import draw_systems
from flatlas.figures.style import Drawing
from flatlas.store.material import Material


def draw(material: Material) -> Drawing:
    """The prior above, flatness below."""
    return draw_systems(material, SYSTEMS, PRIOR_AND_FLATNESS)
