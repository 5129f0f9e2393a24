"""Figure 7: whether a norm times ‖w‖² orders nets by test error better than the norm alone."""

from collections.abc import Iterator

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import CORRELATED, TIGHTER
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.statistics.correlation import kendall
from flatlas.statistics.pooling import within_realizations
from flatlas.studies.false_friend.grid_claims import FEWEST
from flatlas.studies.false_friend.measured import NAMES, NORMS, read, settled, with_history

VGG = ("vgg_sgd", "vgg_sgd_ia", "vgg_adamw", "vgg_adamw_ia")
KINDS = {name: (says, name) for name, says in NAMES.items()} | {"vgg": ("VGG", VGG)}


def judge(material: Material) -> list[Claim]:
    """For each kind of net, over L2 or optimizers, in each realization, where there are enough."""
    material = with_history(material)
    kinds = [(name, says, Nets(material, sweep)) for name, (says, sweep) in KINDS.items()]
    return [
        claim
        for name, says, nets in kinds
        if len(nets.values) >= FEWEST
        for claim in _ordered(nets, name, says)
    ]


def _ordered(nets: Nets, name: str, says: str) -> Iterator[Claim]:
    """The larger error belongs to the sharper net; to order nets backwards is an order, too."""
    error, weights = (read(nets, column) for column in ("test_error", "weight_norm"))
    tau = within_realizations(kendall)
    for norm, called in NORMS.items():
        alone = read(nets, norm)
        product = alone * weights**2
        yield nets.claim(
            f"{name}_{norm}_better",
            "flatness says more of generalisation in conjunction with the weights' scale",
            f"Kendall's coefficient of {called} times ‖w‖² with the test error, less the size of"
            f" that of {called} alone, over {says} in each realization; means over these",
            TIGHTER,
            lambda x, y, z: tau(x, z) - np.abs(tau(y, z)),
            product,
            alone,
            error,
            settled=settled(nets, norm),
        )
        yield nets.claim(
            f"{name}_{norm}_orders",
            "flatness in conjunction with the weights' scale measures generalisation",
            f"Kendall's coefficient of {called} times ‖w‖² with the test error, over {says} in"
            " each realization; mean over these",
            CORRELATED["kendall"],
            tau,
            product,
            error,
            settled=settled(nets, norm),
        )
