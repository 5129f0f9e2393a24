"""Figure S18: prior and flatness against generalization, for four more optimizers."""

from flatlas.evidence.material import Material
from flatlas.studies.prior.scatter import OPTIMIZERS, PRIOR_AND_FLATNESS
from flatlas.studies.prior.systems import draw_systems
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """A column an optimizer; the prior above, flatness below."""
    return draw_systems(material, OPTIMIZERS, PRIOR_AND_FLATNESS)
