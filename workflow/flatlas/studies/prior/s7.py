"""Figure S7: flatness against the prior, for all systems of Figures 3 and 4."""

from flatlas.evidence.material import Material
from flatlas.studies.prior.scatter import FLATNESS, LOG_PRIOR, OPTIMIZERS, SYSTEMS
from flatlas.studies.prior.systems import draw_systems
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """A panel a system or optimizer."""
    return draw_systems(material, SYSTEMS | OPTIMIZERS, [(LOG_PRIOR, FLATNESS)])
