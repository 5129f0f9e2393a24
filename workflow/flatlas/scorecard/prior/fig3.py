"""Figure 3: the prior goes tightly with generalization, flatness less so."""

from collections.abc import Iterator

import numpy as np

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import BARELY
from flatlas.scorecard.nets import Nets
from flatlas.scorecard.prior.correlations import accuracy, log_prior
from flatlas.scorecard.prior.systems import drawn, looser_flatness, tight_prior
from flatlas.statistics.means import mean
from flatlas.store.material import Material

# The ends of the dots of panel A.
LOG_PRIORS, ACCURACIES = (-440, -320), (48, 91)


def judge(material: Material) -> list[Claim]:
    """Every system, and where the dots of the first begin and end."""
    systems = drawn(material)
    return [
        *(claim for sweep in systems for claim in tight_prior(material, sweep)),
        *(claim for sweep in systems for claim in looser_flatness(material, sweep)),
        *_ends(Nets(material, "sgd")),
    ]


def _ends(nets: Nets) -> Iterator[Claim]:
    """Of each realization the lowest and the highest net."""
    for name, told, measured, papers in (
        ("log10_p", "log10 P(f)", log_prior(nets), LOG_PRIORS),
        ("accuracy", "the accuracy (%)", accuracy(nets), ACCURACIES),
    ):
        for end, extreme, paper in zip(
            ("lowest", "highest"), (_lowest, _highest), papers, strict=True
        ):
            yield nets.claim(
                f"{end}_{name}",
                f"{told} has its {end} value at {paper}",
                f"{end} {told} of a realization, relative to the paper's, less 1; mean",
                BARELY,
                lambda measured, extreme=extreme, paper=paper: mean(extreme(measured)) / paper - 1,
                measured,
                paper=f"{paper}".replace("-", "−"),
            )


def _lowest(nets: np.ndarray) -> np.ndarray:
    """Along the last axis; NaN where there is no net."""
    found = np.where(np.isfinite(nets), nets, np.inf).min(-1, initial=np.inf)
    return np.where(np.isfinite(found), found, np.nan)


def _highest(nets: np.ndarray) -> np.ndarray:
    return -_lowest(-nets)
