"""Figure S2: mean components beside their standard deviations."""

from collections.abc import Iterator

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import FALLING, SMALL
from flatlas.studies.duality.trends import trend
from flatlas.claims.nets import Nets
from flatlas.statistics.means import mean

RATIOS = {"w": "|µ_w,n/σ_w,n|", "g": "|µ_g,n/σ_g,n|"}


def judge(material: Material) -> list[Claim]:
    """Panels A and C for Δw, B and D for g."""
    nets = Nets(material, "test_images")
    return [claim for which in RATIOS for claim in _ratio(nets, which)]


def _ratio(nets: Nets, which: str) -> Iterator[Claim]:
    sizes = nets.levels("test_images_summary", "test_images")
    ratios = nets.read("test_images_summary", f"mu_{which}_ratio", "test_images")[:, 0]
    yield nets.claim(
        f"{which}_small",
        f"{RATIOS[which]} is far below 1",
        f"mean {RATIOS[which]} over the directions, at the largest N_te",
        SMALL,
        lambda over: mean(over)[..., -1],
        ratios,
    )
    yield nets.claim(
        f"{which}_falls",
        f"the average of {RATIOS[which]} falls with the number of test images",
        f"rank correlation of mean {RATIOS[which]} with N_te",
        FALLING,
        trend(sizes),
        ratios,
    )
