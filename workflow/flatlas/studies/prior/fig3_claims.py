"""Figure 3: the prior goes tightly with generalization, flatness less so."""

from collections.abc import Iterator

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import INSIDE
from flatlas.claims.correlations import accuracy, log_prior
from flatlas.claims.nets import Nets
from flatlas.studies.prior.extremes import largest, smallest
from flatlas.studies.prior.systems_claims import (
    REST,
    WHOLE,
    curvature,
    drawn,
    scattered_flatness,
    tight_prior,
)
from flatlas.statistics.pooling import within_realizations

# The authors' axes of panel A, log10 P(f) and accuracy, from end to end.
LOG_PRIORS, ACCURACIES = (-440, -320), (48, 91)


def judge(material: Material) -> list[Claim]:
    """Every system, and whether the dots of the first lie where the authors' axes go."""
    systems = drawn(material)
    return [
        *(claim for sweep in systems for claim in tight_prior(material, sweep)),
        *(claim for sweep in systems for claim in scattered_flatness(material, sweep, WHOLE)),
        *ours(claim for sweep in systems for claim in scattered_flatness(material, sweep, REST)),
        *ours(curvature(material, sweep) for sweep in systems),
        # Axes are no sentences.
        *ours(_ends(Nets(material, "sgd"))),
    ]


def _ends(nets: Nets) -> Iterator[Claim]:
    """Of each realization's nets the lowest and the highest."""
    for name, told, measured, (low, high) in (
        ("log10_p", "log10 P(f)", log_prior(nets), LOG_PRIORS),
        ("accuracy", "the accuracy (%)", accuracy(nets), ACCURACIES),
    ):
        axis = f"{low} to {high}".replace("-", "−")
        place = (measured.values - low) / (high - low)
        for end, extreme in (("lowest", smallest), ("highest", largest)):
            yield nets.claim(
                f"{end}_{name}",
                f"{told} lies within the authors' axis range, {axis}",
                f"{end} {told} of a realization's nets, as a place on that axis, which goes from 0"
                " to 1; mean over realizations",
                INSIDE,
                within_realizations(extreme),
                place,
                paper=axis,
                settled=(measured.settled,),
            )
