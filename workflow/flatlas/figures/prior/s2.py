"""Figure S2: sharpness and the spectral norm of the Hessian."""

from flatlas.evidence.material import Material
from flatlas.figures.prior.scatter import FLATNESS, NORM_FLATNESS, OPTIMIZERS, SYSTEMS
from flatlas.figures.prior.systems import draw_systems
from flatlas.figures.style import Drawing


def draw(material: Material) -> Drawing:
    """A panel a system or optimizer."""
    return draw_systems(
        material, SYSTEMS | OPTIMIZERS, [(NORM_FLATNESS, FLATNESS)], ("sharpness", "hessian")
    )
