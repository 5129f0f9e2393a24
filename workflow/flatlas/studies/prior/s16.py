"""Figure S16: prior and eigenvalues against generalization after overtraining with Adam.

Claims: Figure S16: overtraining with Adam changes no correlation, of the prior or of eigenvalues.
"""

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.overtraining import draw_overtrained
from flatlas.studies.prior.overtraining_claims import TOP, judge_overtrained
from flatlas.studies.prior.scatter import TOP_FLATNESS


def draw(material: Material) -> Drawing:
    """A column an amount of overtraining; the prior above, flatness below."""
    return draw_overtrained(material, TOP_FLATNESS)


def claims(material: Material) -> list[Claim]:
    """The prior, and flatness."""
    return judge_overtrained(material, "adam", TOP)
