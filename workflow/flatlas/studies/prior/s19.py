"""Figure S19: prior and flatness against generalization, with many more training images."""

from flatlas.evidence.material import Material
from flatlas.studies.prior.scatter import PRIOR_AND_FLATNESS, SYSTEMS
from flatlas.studies.prior.systems import draw_systems
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """A column a size of S; the prior above, flatness below."""
    return draw_systems(material, SYSTEMS, PRIOR_AND_FLATNESS)
