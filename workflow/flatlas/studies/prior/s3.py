"""Figure S3: the prior of Boolean functions, by sampling, against the Hessian of nets."""

from flatlas.evidence.material import Material
from flatlas.studies.prior.boolean import draw_boolean
from flatlas.studies.prior.scatter import NORM_FLATNESS
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """One dot a function."""
    return draw_boolean(material, NORM_FLATNESS)
