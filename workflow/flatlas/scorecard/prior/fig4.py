"""Figure 4: other optimizers leave the prior's correlation intact, and break that of flatness."""

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.prior.systems import broken_flatness, looser_flatness, tight_prior
from flatlas.store.material import Material

OPTIMIZERS = ("sgd", "adam", "entropy_sgd")


def judge(material: Material) -> list[Claim]:
    """The upper row, then the lower."""
    return [
        *(claim for sweep in OPTIMIZERS for claim in tight_prior(material, sweep)),
        *looser_flatness(material, "sgd"),
        *(claim for sweep in OPTIMIZERS[1:] for claim in broken_flatness(material, sweep)),
    ]
