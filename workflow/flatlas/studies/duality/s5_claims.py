"""Figure S5: the sharpness spectrum for scaled dual shifts, s_w Δw."""

import numpy as np

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF, RISING
from flatlas.studies.duality.spectra_claims import by_stretch, live, logs
from flatlas.studies.duality.trends import trend
from flatlas.claims.nets import Nets
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean


def judge(material: Material) -> list[Claim]:
    """One trend at each scale, shifted by a factor from one scale to another; and panel B."""
    nets = Nets(material, "base")
    curvature, sigma_g = by_curvature(nets)
    return [
        nets.claim(
            "monotone",
            "σ²_g,n grows with H_n at every s_w",
            "rank correlation of σ²_g,n with H_n over the directions with H_n above round-off,"
            " mean over nets; the lowest of all s_w",
            RISING,
            lambda within: mean(within).min(-1),
            spearman(curvature, sigma_g),
        ),
        nets.claim(
            "shifted",
            "from one s_w to another the curve σ²_g,n(H_n) is shifted by one factor",
            "relative deviation of the factor between the smallest s_w and the largest from its"
            " mean, up or down, over half-decades of rank in H_n, directions with σ_g above"
            " round-off at both",
            BARELY_OFF,
            _off_one_factor,
            by_stretch(alive_at_both(2 * logs(sigma_g)), sigma_g.shape[-1]),
        ),
        nets.claim(
            "total",
            "Σσ²_g,n grows with s_w",
            "rank correlation of mean T_g with s_w",
            RISING,
            trend(nets.levels("scaled_summary", "scale")),
            nets.read("scaled_summary", "T_g", "scale")[:, 0],
        ),
    ]


def by_curvature(nets: Nets) -> tuple[np.ndarray, np.ndarray]:
    """H_n and σ_g,n as (realizations, scales, directions), by descending H_n above round-off.

    The table's n is the rank by σ_g at each scale; H_n does not depend on the scale.
    """
    curvature, sigma_g = (
        nets.read("scaled_directions", column, "scale", "n")[:, 0]
        for column in ("eigenvalue", "sigma_g")
    )
    curvature = live(curvature)
    order = np.argsort(-curvature, axis=-1)
    curvature, sigma_g = (np.take_along_axis(a, order, -1) for a in (curvature, sigma_g))
    return curvature, np.where(np.isfinite(curvature), sigma_g, np.nan)


def alive_at_both(logs: np.ndarray) -> np.ndarray:
    """(realizations, scales, directions): what is known at the first scale and at the last.

    A half-decade would else seem shifted by the directions that it has at one scale only.
    """
    if not logs.size:
        return logs
    return np.where(np.isfinite(logs[:, [0]]) & np.isfinite(logs[:, [-1]]), logs, np.nan)


def _off_one_factor(logs: np.ndarray) -> np.ndarray:
    """(realizations, ..., scales, half-decades): what is left of the log ratio without its mean."""
    means = mean(logs)
    factor = means[..., 0, :] - means[..., -1, :]
    return np.expm1(mean(np.abs(factor - mean(factor, -1)[..., np.newaxis]), -1))
