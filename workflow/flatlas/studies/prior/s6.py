"""Figure S6: as Figure 5, with an α so small that the net stays at zero error."""

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import ALL, BARELY_OFF
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.statistics.means import mean
from flatlas.studies.prior.along import CORNERS, ERROR, PRIOR, SHARPNESS, draw_along
from flatlas.studies.prior.course import IN_RANGES, course, prior_in_ranges
from flatlas.studies.prior.extremes import largest
from flatlas.studies.prior.scaling import relaxes, spikes


def draw(material: Material) -> Drawing:
    """A: log P(f). C, E: log sharpness by both searches. On the right, around the scaling."""
    return draw_along(material, (PRIOR, SHARPNESS, CORNERS))


def claims(material: Material) -> list[Claim]:
    """The sharpness spikes, and nothing else happens."""
    nets = Nets(material, "scaled_less")
    (prior, unit_settled), error = prior_in_ranges(nets), course(nets, ERROR)
    sharpness = course(nets, CORNERS)
    known = np.isfinite(error.later)
    return [
        spikes(nets, "sharpness", sharpness),
        relaxes(nets, "sharpness", sharpness),
        nets.claim(
            "zero_error",
            "after a small α-scaling, SGD stays at zero error",
            "share of the moments after the α-scaling at which there is no error on S; mean over"
            " nets",
            ALL,
            mean,
            mean(np.where(known, error.later == 0, np.nan), -1),
        ),
        nets.claim(
            "prior_unchanged",
            "a small α-scaling does not change the prior at all",
            "largest change of log10 P(f) at any moment after the α-scaling, up or down,"
            f" {IN_RANGES}",
            BARELY_OFF,
            mean,
            largest(np.abs(prior.changes)),
            settled=(unit_settled, prior.settled.later, prior.settled.unscaled),
        ),
    ]
