"""Figure S10: measures of the Hessian at every epoch, of a net with 10 neurons below.

Claims: Figure S10: measures of the Hessian along training do as the sharpness does.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import RISING
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean
from flatlas.studies.prior.along import (
    CORNERS,
    PRIOR,
    SHARPNESS,
    SPECTRAL_NORM,
    TOP,
    draw_along,
)
from flatlas.studies.prior.along_claims import (
    CORNERS_TABLE,
    HESSIAN_TABLE,
    Course,
    course,
    falls,
    logarithm,
    relaxes,
    spikes,
)


def draw(material: Material) -> Drawing:
    """A: log P(f). C, E: log sharpness by both searches. G, I: spectral norm, top eigenvalues."""
    return draw_along(material, (PRIOR, SHARPNESS, CORNERS, SPECTRAL_NORM, TOP))


def claims(material: Material) -> list[Claim]:
    """The spectral norm, and the 50 largest eigenvalues by their geometric mean."""
    nets = Nets(material, "scaled_narrow")
    sharpness = course(nets, CORNERS_TABLE, "sharpness")
    norm = logarithm(course(nets, HESSIAN_TABLE, "spectral_norm"))
    top = "the geometric mean of the 50 largest eigenvalues"
    return [
        *_as_sharpness(nets, "spectral_norm", "the spectral norm", norm, sharpness),
        *_as_sharpness(nets, "top", top, _log_of_mean(nets), sharpness),
    ]


def _as_sharpness(
    nets: Nets, name: str, says: str, logs: Course, sharpness: Course
) -> Iterator[Claim]:
    yield falls(nets, name, says, logs)
    yield spikes(nets, name, says, logs)
    yield relaxes(nets, name, says, logs)
    both = np.intersect1d(logs.epochs, sharpness.epochs)
    pair = [one.values[:, np.isin(one.epochs, both)] for one in (logs, sharpness)]
    yield nets.claim(
        f"{name}_follows",
        f"{says} does along training as the sharpness does",
        f"rank correlation of {says} with the sharpness over the moments from zero error on; mean"
        " over nets",
        RISING,
        mean,
        spearman(*pair),
        settled=(logs.searches, sharpness.searches),
    )


def _log_of_mean(nets: Nets) -> Course:
    """The product of as many eigenvalues as are positive, to the power of one over their number."""
    product, count = (course(nets, HESSIAN_TABLE, name) for name in ("log10_product", "positive"))
    known = np.where(count.values > 0, count.values, np.nan)
    return replace(product, values=product.values / known)
