"""Figure 5: prior and sharpness along training, and the α-scaling that leaves zero error."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import LESS, NEAR
from flatlas.claims.nets import Nets
from flatlas.studies.prior.along_claims import (
    ASCENT,
    CORNERS,
    PRIOR,
    approach,
    constant,
    course,
    falls,
    log_prior,
    logarithm,
)
from flatlas.studies.prior.scaling import judge_scaling
from flatlas.statistics.means import mean

SWEEP = "scaled"
ZERO_ERROR_EPOCH = 140


def judge(material: Material) -> list[Claim]:
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
        "prior": ("P(f)", PRIOR, approach(nets, PRIOR, "log10_p")),
        "sharpness": ("the sharpness", ASCENT, _logs(approach(nets, ASCENT, "sharpness"))),
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
    sharpness = logarithm(course(nets, CORNERS, "sharpness"))
    return [
        constant(nets, log_prior(nets)),
        falls(nets, "sharpness", "the sharpness", sharpness),
        _loss_falls(nets),
    ]


def _loss_falls(nets: Nets) -> Claim:
    """It takes no search."""
    loss = logarithm(course(nets, CORNERS, "loss"))
    known = replace(loss, searches=np.full_like(loss.values, np.nan))
    return falls(nets, "loss", "the loss on S", known)


def _logs(values: np.ndarray) -> np.ndarray:
    return np.log10(np.where(values > 0, values, np.nan))
