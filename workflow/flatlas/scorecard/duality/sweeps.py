"""What the paper claims of a sweep, in the terms in which it says it."""

import numpy as np

# A quantity that changes by less than this, relative to itself, barely moves.
BARELY = 0.1


def change(over: np.ndarray) -> float:
    """How much the mean over realizations changes from the first value to the last, relatively.

    `over` is (realizations, values).
    """
    means = np.nanmean(over, axis=0)
    return float(means[-1] / means[0] - 1)


def share(part: np.ndarray, whole: np.ndarray) -> float:
    """Which share of the change of the whole, from the first value to the last, a part has."""
    of_part, of_whole = np.nanmean(part, axis=0), np.nanmean(whole, axis=0)
    return float((of_part[-1] - of_part[0]) / (of_whole[-1] - of_whole[0]))
