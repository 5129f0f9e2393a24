"""Figure 5: prior and sharpness along training, and an α-scaling long after zero error."""

from collections.abc import Iterator

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF, LESS, NEAR
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.statistics.means import mean
from flatlas.studies.prior.along import CORNERS, LOSS, PRIOR, SHARPNESS, draw_along
from flatlas.studies.prior.course import IN_RANGES, approach, course, prior_in_ranges
from flatlas.studies.prior.extremes import largest
from flatlas.studies.prior.scaling import falls, judge_scaling

SWEEP = "scaled"
ZERO_ERROR_EPOCH = 140


def draw(material: Material) -> Drawing:
    """A: log P(f). C, E: log sharpness by both searches. On the right the paper's inset."""
    return draw_along(material, (PRIOR, SHARPNESS, CORNERS))


def claims(material: Material) -> list[Claim]:
    """From the fresh weights to zero error, from there to the scaling, and after it."""
    nets = Nets(material, SWEEP)
    return [
        *_until_zero_error(nets),
        _constant(nets),
        falls(nets, "sharpness", course(nets, CORNERS)),
        falls(nets, "loss", course(nets, LOSS)),
        *judge_scaling(material, SWEEP),
    ]


def _until_zero_error(nets: Nets) -> Iterator[Claim]:
    yield nets.claim(
        "zero_error",
        f"zero error is reached near epoch {ZERO_ERROR_EPOCH}",
        "epoch at which zero error is first reached, relative to the paper's, minus 1; mean over"
        " nets",
        NEAR,
        mean,
        nets.read("outcomes", "met_epoch")[:, 0] / ZERO_ERROR_EPOCH - 1,
        paper=f"{ZERO_ERROR_EPOCH}",
    )
    for quantity in (PRIOR, SHARPNESS):
        logs = approach(nets, quantity)
        yield nets.claim(
            f"{quantity.name}_before",
            f"until zero error, {quantity.what} falls",
            f"change of log10 of {quantity.what} from the fresh weights to zero error; mean over"
            " nets",
            LESS,
            mean,
            logs.values[:, -1] - logs.values[:, 0],
            settled=(logs.settled[:, -1], logs.settled[:, 0]),
        )


def _constant(nets: Nets) -> Claim:
    """From zero error to the scaling."""
    prior, unit_settled = prior_in_ranges(nets)
    return nets.claim(
        "prior_constant",
        "after zero error, P(f) stays constant",
        "largest change of log10 P(f) from its value at zero error until the α-scaling, up or down,"
        f" {IN_RANGES}",
        BARELY_OFF,
        mean,
        largest(np.abs(prior.before - prior.start[:, np.newaxis])),
        settled=(unit_settled, prior.settled.before),
    )
