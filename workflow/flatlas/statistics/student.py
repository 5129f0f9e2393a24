"""Student's interval of the mean of few realizations."""

import numpy as np
from scipy.special import stdtrit

CONFIDENCE = 0.95


def standard_errors(realizations: int | np.ndarray, confidence: float = CONFIDENCE) -> np.ndarray:
    """How many standard errors the interval reaches on each side of a mean of so many."""
    return np.asarray(stdtrit(np.asarray(realizations) - 1, (1 + confidence) / 2))
