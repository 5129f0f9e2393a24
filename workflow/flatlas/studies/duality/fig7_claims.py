"""Figure 7: the learners of figure 5, in the last layers of a ResNet and a DenseNet."""

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.studies.duality.learners import judge_learners

# By sweep: how claims and text call the net, and the test errors behind the text's accuracies. At
# the paper's scale they are ResNet-18 and DenseNet-121.
NETS = {
    "resnet_learners": ("resnet", "the ResNet", "5.66 % against 7.30 %: −1.64"),
    "densenet_learners": ("densenet", "the DenseNet", "5.21 % against 7.21 %: −2.00"),
}


def judge(material: Material) -> list[Claim]:
    """Panels A-C and D-F."""
    return [
        claim
        for sweep, (name, net, errors) in NETS.items()
        for claim in judge_learners(material, sweep, "last", errors, f"{name}_", f", in {net}")
    ]
