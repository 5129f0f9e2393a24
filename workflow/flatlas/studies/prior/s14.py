"""Figure S14: prior and the spectral norm against generalization after overtraining with Adam.

Claims: Figure S14: overtraining with Adam changes no correlation, of prior or spectral norm.
"""

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.overtraining import draw_overtrained
from flatlas.studies.prior.overtraining_claims import NORM, judge_overtrained
from flatlas.studies.prior.scatter import NORM_FLATNESS


def draw(material: Material) -> Drawing:
    """A column an amount of overtraining; the prior above, flatness below."""
    return draw_overtrained(material, NORM_FLATNESS)


def claims(material: Material) -> list[Claim]:
    """The prior, and flatness."""
    return judge_overtrained(material, "adam", NORM)
