"""The two phases of learning: a fast drop of the training loss, then slow exploration (Fig. S1)."""

from math import log, nan, sqrt

import numpy as np

# The steepness at t is that between t / √WINDOW and √WINDOW t: shorter windows see the noise of
# single epochs, longer ones wash out the drop.
WINDOW = 1.5
# Exploration begins where the loss falls no faster than this share of the steepest.
SHARE = 0.5
# A steepness this close to the largest counts as the largest: a drop shorter than the window stays
# that close for a while.
TIED = 0.01
# The number of moments at which the steepness is computed, evenly spaced in ln t.
MOMENTS = 500


def steepness(epochs: np.ndarray, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moments t (in epochs), and the steepness −d ln L / d ln t in a window around each.

    L is the smallest loss so far: before the drop the loss of a single epoch may be far above it,
    but never far below. A power law in t has the same steepness everywhere. In the drop the loss
    falls by decades in a fraction of the time before; once the data are fitted it falls as 1/t,
    with a steepness of 1. The time before the first epoch is left out.
    """
    known = (epochs > 0) & (losses > 0) & np.isfinite(losses)
    t, least = np.log(epochs[known]), np.log(np.minimum.accumulate(losses[known]))
    half = log(sqrt(WINDOW))
    if len(t) < 2 or t[-1] - t[0] <= 2 * half:
        return np.empty(0), np.empty(0)
    centres = np.linspace(t[0] + half, t[-1] - half, MOMENTS)
    fall = np.interp(centres - half, t, least) - np.interp(centres + half, t, least)
    return np.exp(centres), fall / (2 * half)


def transition(epochs: np.ndarray, losses: np.ndarray) -> tuple[float, float]:
    """The epochs at which the loss falls steepest and at which exploration begins.

    Exploration begins when the steepness has fallen to half of its largest value for good. Both are
    NaN if it never begins: a loss that falls as one power law, or ever faster, has one phase.
    """
    moments, steep = steepness(epochs, losses)
    largest = steep.max(initial=0)
    fast = np.flatnonzero(steep > SHARE * largest)
    if not fast.size or fast[-1] == len(steep) - 1:
        return nan, nan
    steepest = np.flatnonzero(steep >= (1 - TIED) * largest)
    return float(moments[steepest[len(steepest) // 2]]), float(moments[fast[-1] + 1])
