"""Figure 4: other optimizers leave the prior's correlation intact, and break that of flatness."""

from flatlas.claims.claim import Claim, ours
from flatlas.evidence.material import Material
from flatlas.studies.prior.systems_claims import (
    REST,
    WHOLE,
    Flatness,
    broken_flatness,
    correlated_flatness,
    curvature,
    looser_flatness,
    tight_prior,
)

OPTIMIZERS = ("sgd", "adam", "entropy_sgd")


def judge(material: Material) -> list[Claim]:
    """Row by row, and whether the second one is about curvature."""
    return [
        *(claim for sweep in OPTIMIZERS for claim in tight_prior(material, sweep)),
        *correlated_flatness(material, "sgd"),
        *_flatness(material, WHOLE),
        *ours(_flatness(material, REST)),
        *ours(curvature(material, sweep) for sweep in OPTIMIZERS),
    ]


def _flatness(material: Material, of: Flatness) -> list[Claim]:
    return [
        *looser_flatness(material, "sgd", of),
        *broken_flatness(material, "adam", of),
        *broken_flatness(material, "entropy_sgd", of),
    ]
