"""Figure S3: the prior of Boolean functions, by sampling, against the Hessian of nets.

Claims: Figure S3: Boolean functions that are likely have small Hessians.
"""

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.boolean import draw_boolean, judge_boolean
from flatlas.studies.prior.scatter import NORM_FLATNESS


def draw(material: Material) -> Drawing:
    """One dot a function."""
    return draw_boolean(material, NORM_FLATNESS)


def claims(material: Material) -> list[Claim]:
    """Over all functions."""
    return judge_boolean(material, "a small spectral norm", "hessian", "spectral_norm")
