"""Figure 6: gradient noise along the Hessian's eigenvectors, for DPSGD and SSGD."""

from collections.abc import Iterator, Sequence

import numpy as np

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import MORE, RISING
from flatlas.studies.duality.spectra_claims import SHARPEST, live
from flatlas.claims.nets import Sweep
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean

KINDS = {"dpsgd": "DPSGD", "ssgd": "SSGD"}
TABLE = "gradients_directions"
# The study's moments, for where no training left a row that tells of any.
PLANNED = ("10", "100", "1000", "final")


def judge(material: Material) -> list[Claim]:
    """Panel A at every moment, for both kinds of learners; panel B by ratios of their noise."""
    sweep = Sweep(material, "learners", "learners.kind", tuple(KINDS))
    moments = _moments(material)
    curvature = live(_ordered(sweep, "eigenvalue", moments))
    noise = np.where(_training(sweep, moments), _ordered(sweep, "noise", moments), np.nan)
    # Along a direction whose H_n is round-off, the noise says nothing.
    noise = np.where(np.isfinite(curvature), noise, np.nan)
    return [*_growth(sweep, moments, spearman(curvature, noise)), *_ratios(sweep, moments, noise)]


def _growth(sweep: Sweep, moments: Sequence[str], within: np.ndarray) -> Iterator[Claim]:
    """`within`: the rank correlations of single nets, as (realizations, kinds, moments).

    A kind without solutions keeps its claims, undecided.
    """
    for kind, learners in KINDS.items():
        place = [number for number, value in enumerate(sweep.values) if value == kind]
        for number, moment in enumerate(moments):
            when = "in the solution" if moment == "final" else f"after {moment} epochs"
            yield sweep.claim(
                f"{kind}_{moment}",
                f"the noise of {learners} grows with H_n {when}",
                "rank correlation of Δ_n with H_n over the directions with H_n above round-off;"
                " mean over nets",
                RISING,
                lambda over: mean(over)[..., 0],
                within[:, place, number],
            )


def _ratios(sweep: Sweep, moments: Sequence[str], noise: np.ndarray) -> Iterator[Claim]:
    """DPSGD against SSGD, by log ratios of Δ_n, seed by seed and rank by rank in H_n."""
    logs = np.log(live(noise))
    excess = logs[:, 0] - logs[:, 1] if len(sweep.values) > 1 else logs[:, :0]
    sharp, rest = mean(excess[..., :SHARPEST], -1), mean(excess[..., SHARPEST:], -1)
    final = np.array([moment == "final" for moment in moments], dtype=bool)
    before = "before convergence"
    yield sweep.claim(
        "above",
        f"DPSGD has more noise than SSGD {before}",
        f"geometric mean factor of Δ_n of DPSGD over SSGD, less 1; 10 sharpest directions,"
        f" {before}",
        MORE,
        lambda sharp: np.expm1(_over(sharp, ~final)),
        sharp,
    )
    yield sweep.claim(
        "sharpest",
        f"the excess of DPSGD {before} is largest in the sharp directions",
        f"excess (as the mean log ratio) in the 10 sharpest directions less that in all others,"
        f" {before}",
        MORE,
        lambda sharp, rest: _over(sharp, ~final) - _over(rest, ~final),
        sharp,
        rest,
    )
    yield sweep.claim(
        "early",
        f"the excess of DPSGD is largest {before}",
        f"excess (as the mean log ratio) in the 10 sharpest directions {before} less that in the"
        " solutions",
        MORE,
        lambda sharp: _over(sharp, ~final) - _over(sharp, final),
        sharp,
    )


def _over(excess: np.ndarray, which: np.ndarray) -> np.ndarray:
    """The mean over realizations, and over some of the moments, the last axis."""
    return mean(mean(excess)[..., which], -1)


def _ordered(sweep: Sweep, column: str, moments: Sequence[str]) -> np.ndarray:
    """(realizations, kinds, moments, directions), the moments in their order in time."""
    labels = [str(label) for label in sweep.levels(TABLE, "at")]
    found = sweep.read(TABLE, column, "at", "n")
    ordered = np.full((*found.shape[:2], len(moments), found.shape[-1]), np.nan)
    for place, moment in enumerate(moments):
        if moment in labels:
            ordered[:, :, place] = found[:, :, labels.index(moment)]
    return ordered


def _training(sweep: Sweep, moments: Sequence[str]) -> np.ndarray:
    """Where a net was still in training, or is the solution: one that had ended tells it twice."""
    ended = sweep.read("outcomes", "epoch")[:, :, np.newaxis, np.newaxis]
    final = np.array([moment == "final" for moment in moments], dtype=bool)[:, np.newaxis]
    return final | ~(_ordered(sweep, "epoch", moments) >= ended)


def _moments(material: Material) -> list[str]:
    """All moments of the figure, in their order in time."""
    rows = material.tables[TABLE]
    rows = rows[rows["sweep"] == "learners"]
    told = set(rows["at"].astype(str)) if "at" in rows else set()
    return sorted(told or PLANNED, key=_time)


def _time(moment: str) -> float:
    return np.inf if moment == "final" else float(moment)
