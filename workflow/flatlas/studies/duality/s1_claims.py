"""Figure S1: how many test images ΔL needs."""

import numpy as np

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF
from flatlas.studies.duality.trends import nearest
from flatlas.claims.nets import Nets
from flatlas.statistics.means import mean

ENOUGH = 2000


def judge(material: Material) -> list[Claim]:
    """Net by net: the mean over realizations would need fewer images than any one of them."""
    nets = Nets(material, "test_images")
    sizes = nets.levels("test_images_summary", "test_images")
    place = nearest(sizes, ENOUGH)
    told = f"N_te = {sizes[place]}" if len(sizes) > 1 else "the N_te nearest to 2,000"
    return [
        nets.claim(
            "converged",
            "ΔL has converged at about 2,000 test images",
            f"relative deviation of ΔL at {told} from ΔL at the largest N_te, up or down; mean"
            " over nets",
            BARELY_OFF,
            lambda gap: mean(np.abs(gap[..., place] / gap[..., -1] - 1)),
            nets.read("test_images_summary", "dual_gap", "test_images")[:, 0],
            paper="N_te ≥ 2,000",
        )
    ]
