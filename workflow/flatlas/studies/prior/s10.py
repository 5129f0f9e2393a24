"""Figure S10: measures of the Hessian along training do as the sharpness does.

The net's first hidden layer has 10 neurons.
"""

from collections.abc import Iterator

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import RISING
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean
from flatlas.studies.prior.along import CORNERS, PRIOR, SHARPNESS, SPECTRAL_NORM, TOP, draw_along
from flatlas.studies.prior.course import Course, course
from flatlas.studies.prior.scaling import falls, relaxes, spikes


def draw(material: Material) -> Drawing:
    """A: log P(f). C, E: log sharpness by both searches. G, I: spectral norm, top eigenvalues."""
    return draw_along(material, (PRIOR, SHARPNESS, CORNERS, SPECTRAL_NORM, TOP))


def claims(material: Material) -> list[Claim]:
    """The spectral norm, and the 50 largest eigenvalues by their geometric mean."""
    nets = Nets(material, "scaled_narrow")
    measured = {"spectral_norm": SPECTRAL_NORM, "top": TOP}
    return [
        claim
        for name, quantity in measured.items()
        for claim in _as_sharpness(nets, name, course(nets, quantity), course(nets, CORNERS))
    ]


def _as_sharpness(nets: Nets, name: str, logs: Course, sharpness: Course) -> Iterator[Claim]:
    yield falls(nets, name, logs)
    yield spikes(nets, name, logs)
    yield relaxes(nets, name, logs)
    both = np.intersect1d(logs.epochs, sharpness.epochs)
    pair = [one.values[:, np.isin(one.epochs, both)] for one in (logs, sharpness)]
    yield nets.claim(
        f"{name}_follows",
        f"{logs.what} does along training as the sharpness does",
        f"rank correlation of {logs.what} with the sharpness over the moments from zero error on;"
        " mean over nets",
        RISING,
        mean,
        spearman(*pair),
        settled=(logs.searches, sharpness.searches),
    )
