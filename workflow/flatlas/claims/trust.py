"""How far a number can be trusted: nets that learnt nothing, failed searches, few realizations."""

from collections.abc import Sequence
from math import isfinite

import numpy as np

from flatlas.claims.conventions import LEARNT
from flatlas.statistics.estimate import Estimate

# A claim is undecided if more than this share of its measurements did not converge.
UNSETTLED = 0.1
# With so few realizations the interval is the whole range of the resamples. It contains the centre
# of a symmetric distribution unless all realizations lie on one side of it: with probability 1 -
# 2^(1-n).
RANGE_COVERS = {2: "half", 3: "three quarters", 4: "seven eighths"}


def unlearnt(test_error: float) -> str:
    """Why no criterion can decide, if even the best nets have this test error; NaN is unknown."""
    if not isfinite(test_error) or LEARNT.holds(test_error):
        return ""
    share = f"{100 * test_error:.0f} %"
    return f"The task is not learnt: even the best run is wrong on {share} of the test images."


def realizations(measured: np.ndarray) -> int:
    """How many realizations have a value."""
    return int(np.isfinite(measured).any(axis=tuple(range(1, measured.ndim))).sum())


def _known(settled: np.ndarray) -> int:
    return int(np.isfinite(settled).sum())


def _lost(settled: np.ndarray) -> int:
    return int((settled == 0).sum())


def trusted(settled: Sequence[np.ndarray]) -> bool:
    """Whether enough of the measurements that a claim rests on have converged."""
    return all(_lost(one) <= UNSETTLED * _known(one) for one in settled)


def unsettled(settled: Sequence[np.ndarray]) -> str:
    """How many measurements did not converge, for the quantity with the largest share of them."""
    worst = max(settled, key=lambda one: _lost(one) / max(_known(one), 1), default=np.zeros(0))
    if not _lost(worst):
        return ""
    return f"{_lost(worst)} of {_known(worst)} measurements did not converge."


def few(number: Estimate, count: int) -> str:
    """A note on the interval of few realizations; the interval of one covers its directions."""
    if isfinite(number.low) and count == 1:
        return "One realization: the interval is that of its directions."
    return range_of(count) if isfinite(number.low) else ""


def range_of(count: int) -> str:
    """A note on an interval of so few realizations."""
    if count not in RANGE_COVERS:
        return ""
    return (
        f"{count} realizations: the interval is the range of the resamples, which covers about"
        f" {RANGE_COVERS[count]}."
    )


def lacking(number: Estimate) -> str:
    """Why no criterion can decide, or '' if one can."""
    if not isfinite(number.value):
        return "There is nothing to compare."
    return "" if isfinite(number.low) else "One realization has no interval."
