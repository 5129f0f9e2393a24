"""Convolution layers: whether the approximate duality gives the gap."""

from flatlas.claims.claim import Claim, between, ours
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.studies.duality.trends import ratio

LAYERS = {"conv1": "first", "conv2": "second"}


def judge(material: Material) -> list[Claim]:
    """The paper's discussion leaves convolution layers open."""
    nets = Nets(material, "cifar_base")
    return ours(
        nets.claim(
            layer,
            f"the least-squares dual weights of the {place} convolution layer give the gap",
            "mean l(x, w + Δw) − l(x, w) over the mean l(x′, w) − l(x, w)",
            between(0.9, 1.1),
            ratio,
            nets.read(f"{layer}_summary", "dual_gap")[:, 0],
            nets.read(f"{layer}_summary", "pairwise_gap")[:, 0],
        )
        for layer, place in LAYERS.items()
    )
