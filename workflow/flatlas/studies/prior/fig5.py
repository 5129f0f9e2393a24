"""Figure 5: prior and sharpness at every epoch, with an α-scaling long after zero error.

Claims: Figure 5: prior and sharpness along training, and the α-scaling that leaves zero error.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import LESS, NEAR
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.statistics.means import mean
from flatlas.studies.prior.along import CORNERS, PRIOR, SHARPNESS, draw_along
from flatlas.studies.prior.along_claims import (
    ASCENT_TABLE,
    CORNERS_TABLE,
    PRIOR_TABLE,
    approach,
    constant,
    course,
    falls,
    log_prior,
    logarithm,
)
from flatlas.studies.prior.scaling import judge_scaling

SWEEP = "scaled"
ZERO_ERROR_EPOCH = 140


def draw(material: Material) -> Drawing:
    """A: log P(f). C, E: log sharpness by both searches. On the right the paper's inset."""
    return draw_along(material, (PRIOR, SHARPNESS, CORNERS))


def claims(material: Material) -> list[Claim]:
    """From the fresh weights to zero error, from there to the scaling, and after it."""
    nets = Nets(material, SWEEP)
    return [*_until_zero_error(nets), *_until_scaling(nets), *judge_scaling(material, SWEEP)]


def _until_zero_error(nets: Nets) -> Iterator[Claim]:
    yield nets.claim(
        "zero_error",
        f"zero error is reached near epoch {ZERO_ERROR_EPOCH}",
        "epoch at which zero error is first reached, relative to the paper's, less 1; mean over"
        " nets",
        NEAR,
        mean,
        nets.read("outcomes", "met_epoch")[:, 0] / ZERO_ERROR_EPOCH - 1,
        paper=f"{ZERO_ERROR_EPOCH}",
    )
    measured = {
        "prior": ("P(f)", PRIOR_TABLE, approach(nets, PRIOR_TABLE, "log10_p")),
        "sharpness": (
            "the sharpness",
            ASCENT_TABLE,
            _logs(approach(nets, ASCENT_TABLE, "sharpness")),
        ),
    }
    for name, (says, table, logs) in measured.items():
        settled = approach(nets, table, "converged")
        yield nets.claim(
            f"{name}_before",
            f"until zero error, {says} falls",
            f"change of log10 of {says} from the fresh weights to zero error; mean over nets",
            LESS,
            mean,
            logs[:, -1] - logs[:, 0],
            settled=(settled[:, -1], settled[:, 0]),
        )


def _until_scaling(nets: Nets) -> list[Claim]:
    sharpness = logarithm(course(nets, CORNERS_TABLE, "sharpness"))
    return [
        constant(nets, log_prior(nets)),
        falls(nets, "sharpness", "the sharpness", sharpness),
        _loss_falls(nets),
    ]


def _loss_falls(nets: Nets) -> Claim:
    """It takes no search."""
    loss = logarithm(course(nets, CORNERS_TABLE, "loss"))
    known = replace(loss, searches=np.full_like(loss.values, np.nan))
    return falls(nets, "loss", "the loss on S", known)


def _logs(values: np.ndarray) -> np.ndarray:
    return np.log10(np.where(values > 0, values, np.nan))
