"""Which directions are sharp, flat or without curvature, and the parts of the gap (§2.4, S8)."""

import numpy as np
import torch
from torch import Tensor

from flatlas.errors import FlatlasError

# Neighbours in a spectrum are unevenly spaced by chance, so a fall is measured over five ranks on
# each side.
RANKS = 5
# n_s is searched among the directions that together have this share of T_g = Σ σ_g².
SIGNAL = 0.99
# Below this fraction of the largest, σ_g is the round-off of a direction in which nothing changes.
ROUND_OFF = 1e-12
TINY, EPSILON = torch.finfo(torch.float64).tiny, torch.finfo(torch.float64).eps


def sharp_directions(sigma_g: np.ndarray, sharp: int | str) -> int:
    """n_s, the number of sharp directions: as given, or at the steepest drop of σ_g."""
    if sharp == "steepest":
        return steepest_drop(sigma_g)
    refuse_too_many(sharp, len(sigma_g))
    return int(sharp)


def refuse_too_many(sharp: int | str, directions: int) -> None:
    """Raise an error if there are fewer directions than should be sharp."""
    if sharp != "steepest" and int(sharp) > directions:
        raise FlatlasError(
            f"sharp is {sharp}, but the layer has {directions} directions: give a number up to "
            "that, or 'steepest'."
        )


def steepest_drop(sigma_g: np.ndarray) -> int:
    """n_s: the rank after which log σ_g falls most, for σ_g in descending order.

    The fall after rank n is the mean of log σ_g over the five ranks up to n (fewer at the top)
    minus its mean over the next five ranks. The paper takes 'the value of n with the steepest
    decrease'. Between single neighbours that is often n = 1, or a step in the tail, where σ_g falls
    by decades because of rarely active neurons. So the tail with the last hundredth of T_g is not
    searched, and directions that are zero up to round-off are ignored.
    """
    spectrum = sigma_g[live(sigma_g)]
    if len(spectrum) < 2:
        return 1
    held = np.cumsum(spectrum**2) / np.sum(spectrum**2)
    last = min(int(np.searchsorted(held, SIGNAL)) + 1, len(spectrum) - 1)
    log = np.log(spectrum)
    # Sums over five ranks on each side, shift by shift; zeros beyond the ends.
    beyond = np.zeros(RANKS)
    around = np.concatenate([beyond, log, beyond])
    there = np.concatenate([beyond, np.ones_like(log), beyond])
    n = np.arange(1, last + 1) + RANKS
    shifts = np.arange(RANKS)[:, None]
    above, below = n - 1 - shifts, n + shifts
    falls = around[above].sum(0) / there[above].sum(0) - around[below].sum(0) / there[below].sum(0)
    return int(np.argmax(falls)) + 1


def curved(eigenvalues: np.ndarray) -> np.ndarray:
    """The directions whose eigenvalue is above the round-off of a solver."""
    sizes = np.abs(eigenvalues)
    return sizes > EPSILON * len(sizes) * sizes.max()


def sums(eigenvalue: np.ndarray, sigma_g: np.ndarray, sigma_w: np.ndarray) -> dict[str, float]:
    """S_w = Σ σ_w, also over curved directions alone, T_g = Σ σ_g², T_h = Σ H_n, T_w = Σ σ_w²."""
    return {
        "S_w": sigma_w.sum(),
        "S_w_curved": sigma_w[curved(eigenvalue)].sum(),
        "T_g": (sigma_g**2).sum(),
        "T_h": eigenvalue.sum(),
        "T_w": (sigma_w**2).sum(),
    }


def live(sigma_g: np.ndarray) -> np.ndarray:
    """The directions in which anything changes, for σ_g in descending order."""
    return sigma_g > ROUND_OFF * sigma_g[0]


def gaps(gap: np.ndarray, gap_mu: np.ndarray, loss_gap: Tensor, n_sharp: int) -> dict[str, float]:
    """ΔL̃ from the losses (Eq. 7), ΔL from the directions (Eq. 11), its two parts and the µ-term.

    `gap` and `gap_mu` are those of directions by descending σ_g, and `loss_gap` is Δl of each pair.
    For pairs with dual weights, ΔL and the µ-term add up to ΔL̃ (Eq. 10). The residual, relative to
    the mean |Δl|, shows round-off and the part of pairs without dual weights.
    """
    direct = loss_gap.mean().item()
    size = max(loss_gap.abs().mean().item(), TINY)
    return {
        "pairwise_gap": direct,
        "dual_gap": gap.sum(),
        "mu_gap": gap_mu.sum(),
        "gap_sharp": gap[:n_sharp].sum(),
        "gap_flat": gap[n_sharp:].sum(),
        "n_sharp": n_sharp,
        "sum_rule_residual": abs((gap + gap_mu).sum() - direct) / size,
    }
