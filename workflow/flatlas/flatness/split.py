"""Where the sharp directions end and the flat ones begin: n_s (§2.4, Fig. S8)."""

import numpy as np

# Neighbours in a spectrum are unevenly spaced by chance, so a fall is measured over five ranks on
# each side.
RANKS = 5
# n_s is searched among the directions that together have this share of T_g = Σ σ_g².
SIGNAL = 0.99
# Below this fraction of the largest, σ_g is the round-off of a direction in which nothing changes.
ROUND_OFF = 1e-12


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


def live(sigma_g: np.ndarray) -> np.ndarray:
    """The directions in which anything changes, for σ_g in descending order."""
    return sigma_g > ROUND_OFF * sigma_g[0]
