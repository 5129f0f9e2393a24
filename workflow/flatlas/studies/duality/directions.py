"""Statistics along the directions n, as claims need them.

Arrays are (realizations, values, directions), by rank. The statistics leave out directions beyond
those that hold 99 % of ΔL: there σ_g falls by decades or to round-off, because of rarely active
neurons.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from flatlas.statistics.joint import Joint
from flatlas.statistics.means import mean
from flatlas.statistics.round_off import ROUND_OFF

# The share of ΔL in the directions that count.
HELD = 0.99
# n ≤ 10: the sharp directions of the paper (n_s = 10), the same for every net.
SHARPEST = 10


def counted(gap: np.ndarray) -> int:
    """How many directions hold 99 % of mean ΔL, at the value of a sweep that needs the most."""
    return int(counted_each(mean(gap)).sum(-1).max(initial=1))


def counted_each(gap: np.ndarray) -> np.ndarray:
    """Which directions, by rank, hold 99 % of each net's Σ|ΔL_n| (a few ΔL_n are negative)."""
    parts = np.abs(np.nan_to_num(gap))
    held = np.cumsum(parts, axis=-1)
    return (held - parts < HELD * held[..., -1:]) & np.isfinite(gap)


def live(measured: np.ndarray) -> np.ndarray:
    """The numbers that are positive and above round-off, and NaN elsewhere."""
    if not measured.size:
        return measured
    known = np.where(np.isfinite(measured), measured, 0.0)
    largest = known.max(-1, keepdims=True)
    return np.where(known > ROUND_OFF * largest, measured, np.nan)


def logs(measured: np.ndarray) -> np.ndarray:
    """The logarithms of the live numbers, and NaN elsewhere."""
    return np.asarray(np.log(live(measured)))


def stretches(last: int) -> list[tuple[int, int]]:
    """Half-decades of rank, as (first, last): 1-3, 4-10, and equal steps of log n beyond.

    All have the same weight, because they have the same width on the paper's axis. If single
    directions had it, the ten sharpest would be lost among hundreds.
    """
    ends = [3, SHARPEST]
    if last > SHARPEST:
        steps = max(1, round(2 * np.log10(last / SHARPEST)))
        ends += [int(end) for end in np.rint(np.geomspace(SHARPEST, last, steps + 1))[1:]]
    return [(before + 1, end) for before, end in zip([0, *ends], ends, strict=False)]


def by_stretch(spectrum: np.ndarray, last: int) -> np.ndarray:
    """The mean in each half-decade of rank, up to the last direction that counts."""
    parts = [mean(spectrum[..., first - 1 : end], -1) for first, end in stretches(last)]
    return np.stack(parts, axis=-1)


def sharpest(spectrum: np.ndarray) -> np.ndarray:
    """The mean over n ≤ 10."""
    return mean(spectrum[..., :SHARPEST], -1)


def flat(spectrum: np.ndarray, last: int) -> np.ndarray:
    """The means in half-decades beyond n = 10, up to the last direction that counts."""
    return by_stretch(spectrum, last)[..., 2:]


def from_first_to_last(logs: np.ndarray) -> np.ndarray:
    """The change of the means over realizations of (realizations, ..., values, half-decades)."""
    means = mean(logs)
    return np.asarray(means[..., -1, :] - means[..., 0, :])


def _off_the_mean_change(logs: np.ndarray) -> np.ndarray:
    change = from_first_to_last(logs)
    return change - mean(change, -1)[..., np.newaxis]


def _factor(changes: Callable[[np.ndarray], np.ndarray]) -> Joint:
    return Joint(changes, partial(mean, axis=-1), sizes=True, shown=np.expm1)


# `moved`: the geometric mean factor between the first value and the last, up or down, less 1.
# `bent`: the same for the deviation of each half-decade's factor from their mean.
moved = _factor(from_first_to_last)
bent = _factor(_off_the_mean_change)
