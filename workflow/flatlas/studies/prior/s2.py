"""Figure S2: sharpness and the spectral norm of the Hessian."""

from flatlas.evidence.material import Material
from flatlas.studies.prior.scatter import CORNERS, FLATNESS, NORM_FLATNESS, OPTIMIZERS, SYSTEMS
from flatlas.studies.prior.systems import draw_systems
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """A column a system or optimizer; sharpness by the paper's ascent, and by corners."""
    rows = [(NORM_FLATNESS, FLATNESS), (NORM_FLATNESS, CORNERS)]
    measures = ("sharpness", "corners", "hessian")
    return draw_systems(material, SYSTEMS | OPTIMIZERS, rows, measures)
