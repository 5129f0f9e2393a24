"""Figure S10: measures of the Hessian at every epoch, of a net with 10 neurons below."""

from flatlas.figures.prior.along import PRIOR, PRODUCT, SHARPNESS, SPECTRAL_NORM, draw_along
from flatlas.figures.style import Drawing
from flatlas.store.material import Material


def draw(material: Material) -> Drawing:
    """A: log P(f). C: log sharpness of the same net. E, G: spectral norm, product of 50."""
    return draw_along(material, (PRIOR, SHARPNESS, SPECTRAL_NORM, PRODUCT))
