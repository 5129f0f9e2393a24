"""Figure 4: other optimizers leave the prior's correlation intact, and break that of flatness."""

from flatlas.claims.claim import Claim, ours
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.quantities import FLATNESS, REST_FLATNESS, Quantity
from flatlas.studies.prior.scatter import REST_LEGEND, WITH_THE_REST
from flatlas.studies.prior.systems import (
    BREAKING,
    OPTIMIZERS,
    broken_flatness,
    correlated_flatness,
    curvature,
    draw_systems,
    looser_flatness,
    tight_prior,
)

SWEEPS = ("sgd", *BREAKING)


def draw(material: Material) -> Drawing:
    """A column for each optimizer: the prior, flatness, and flatness beyond first order."""
    measures = ("prior", "sharpness", "corners")
    return draw_systems(material, OPTIMIZERS, WITH_THE_REST, measures, REST_LEGEND)


def claims(material: Material) -> list[Claim]:
    """Row by row, and whether the second row shows curvature."""
    return [
        *(claim for sweep in SWEEPS for claim in tight_prior(material, sweep)),
        *correlated_flatness(material, "sgd"),
        *_flatness(material, FLATNESS),
        *ours(_flatness(material, REST_FLATNESS)),
        *ours(curvature(material, sweep) for sweep in SWEEPS),
    ]


def _flatness(material: Material, flat: Quantity) -> list[Claim]:
    return [
        *looser_flatness(material, "sgd", flat),
        *(claim for sweep in BREAKING for claim in broken_flatness(material, sweep, flat)),
    ]
