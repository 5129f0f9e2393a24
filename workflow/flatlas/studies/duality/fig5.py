"""Figure 5: gap, sharpness and size by direction, of synchronous and decentralized learners."""

from decimal import Decimal

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.duality.learners import Learning, draw_learners, judge_learners

LEARNING = Learning("learners", "hidden", ssgd=Decimal("2.6"), dpsgd=Decimal("2.3"))


def draw(material: Material) -> Drawing:
    """A panel for each quantity, with the test errors in the first."""
    return draw_learners(material, LEARNING)


def claims(material: Material) -> list[Claim]:
    """The claims about test errors and panels A-C."""
    return judge_learners(material, LEARNING)
