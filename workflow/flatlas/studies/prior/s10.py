"""Figure S10: measures of the Hessian at every epoch, of a net with 10 neurons below."""

from flatlas.evidence.material import Material
from flatlas.studies.prior.along import (
    CORNERS,
    PRIOR,
    SHARPNESS,
    SPECTRAL_NORM,
    TOP,
    draw_along,
)
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """A: log P(f). C, E: log sharpness by both searches. G, I: spectral norm, top eigenvalues."""
    return draw_along(material, (PRIOR, SHARPNESS, CORNERS, SPECTRAL_NORM, TOP))
