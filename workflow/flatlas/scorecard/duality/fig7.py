"""Figure 7: the learners of figure 5, in the last layers of a ResNet and a DenseNet."""

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.duality.learners import judge_learners
from flatlas.store.material import Material

# By sweep: how claims call the net, ResNet-18 or DenseNet-121 at the paper's scale, and the test
# errors behind the text's accuracies.
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
