"""Figure S17: prior and flatness against generalization, for a residual net under Adam."""

from flatlas.evidence.material import Material
from flatlas.studies.prior.scatter import PRIOR_AND_FLATNESS, SYSTEMS
from flatlas.studies.prior.systems import draw_systems
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """The prior above, flatness below, of both nets under Adam."""
    return draw_systems(material, SYSTEMS | {"adam": "FCN, Adam"}, PRIOR_AND_FLATNESS)
