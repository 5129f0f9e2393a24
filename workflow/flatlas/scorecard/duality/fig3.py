"""Figure 3: larger learning rates and smaller batches find flatter solutions."""

from collections.abc import Iterator

from flatlas.scorecard.claims import Claim, Criterion, at_least, at_most, between
from flatlas.scorecard.duality.sweeps import BARELY, change, share
from flatlas.scorecard.readings import by_value
from flatlas.statistics.estimate import estimate
from flatlas.store.material import Material


def judge(material: Material) -> list[Claim]:
    """The same claims for both sweeps."""
    return [
        *_claims(material, "alpha", "optimizer.lr", "α rises", at_most(0)),
        *_claims(material, "batch", "batch", "B rises", at_least(0)),
    ]
def _claims(
    material: Material, sweep: str, key: str, when: str, falls: Criterion
) -> Iterator[Claim]:
    gap, sharp, flat, size = (
        by_value(material, "hidden_summary", column, sweep, key)
        for column in ("dual_gap", "gap_sharp", "gap_flat", "S_w")
    )
    verb = "falls" if falls.high == 0 else "grows"
    yield Claim(
        f"{sweep}_gap",
        f"ΔL {verb} as {when}",
        "relative change of ΔL from the first value to the last",
        falls,
        estimate(change, gap),
    )
    yield Claim(
        f"{sweep}_sharp",
        f"as {when}, the change of ΔL is in ΔL_s",
        "share of ΔL_s in the change of ΔL",
        at_least(0.5),
        estimate(share, sharp, gap),
    )
    for name, symbol, over in (("flat", "ΔL_f", flat), ("size", "S_w", size)):
        yield Claim(
            f"{sweep}_{name}",
            f"{symbol} barely moves as {when}",
            f"relative change of {symbol} from the first value to the last",
            between(-BARELY, BARELY),
            estimate(change, over),
        )
