"""Figure S3: the inverse relation in other layers, another net, with other optimizers."""

from flatlas.evidence.material import Material
from flatlas.studies.annealing.directions import inverse_relation, runs
from flatlas.claims.claim import Claim

LAYER = "snapshots"
NETS = {
    "deep": "four hidden layers",
    "lenet_cifar": "the LeNet on CIFAR-10, SGD with momentum",
    "adam": "Adam",
    "momentum": "SGD with momentum",
}


def judge(material: Material) -> list[Claim]:
    """A claim a run."""
    claims = []
    for sweep, net in NETS.items():
        for nets in runs(material, sweep):
            layer = nets.outcomes.reindex(columns=[LAYER])[LAYER].iloc[0]
            name, where = (
                (f"{sweep}_{layer}", f"{net}, {layer}") if isinstance(layer, str) else (sweep, net)
            )
            claims.append(inverse_relation(nets, f"inverse_{name}", where))
    return claims
