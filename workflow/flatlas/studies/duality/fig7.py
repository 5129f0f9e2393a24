"""Figure 7: the last layers of two deep nets, of synchronous and of decentralized learners."""

from decimal import Decimal

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.duality.learners import Learning, draw_learners, judge_learners

# At the paper's scale these are ResNet-18 and DenseNet-121. The paper gives their accuracies.
NETS = (
    Learning("resnet_learners", "last", Decimal("7.30"), Decimal("5.66"), "ResNet"),
    Learning("densenet_learners", "last", Decimal("7.21"), Decimal("5.21"), "DenseNet"),
)


def draw(material: Material) -> Drawing:
    """A row of panels for each net, as in the paper."""
    return draw_learners(material, *NETS)


def claims(material: Material) -> list[Claim]:
    """The claims about test errors and the panels of both nets."""
    return [claim for net in NETS for claim in judge_learners(material, net)]
