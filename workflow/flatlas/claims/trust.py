"""How far a number can be trusted: searches that did not converge, and few realizations."""

from collections.abc import Sequence
from math import isfinite

import numpy as np

from flatlas.statistics.estimate import Estimate

# Where more of the measurements that a claim rests on have not converged, it is undecided.
UNSETTLED = 0.1
# Of so few realizations the interval is the whole range of the resamples. It holds the centre of a
# symmetric distribution unless all of them lie on one side of it: with probability 1 - 2^(1-n).
RANGE_COVERS = {2: "half", 3: "three quarters", 4: "seven eighths"}


def realizations(measured: np.ndarray) -> int:
    """How many of them have a value."""
    return int(np.isfinite(measured).any(axis=tuple(range(1, measured.ndim))).sum())


def _known(settled: np.ndarray) -> int:
    return int(np.isfinite(settled).sum())


def _lost(settled: np.ndarray) -> int:
    return int((settled == 0).sum())


def trusted(settled: Sequence[np.ndarray]) -> bool:
    """Whether enough of the measurements that a claim rests on have converged."""
    return all(_lost(one) <= UNSETTLED * _known(one) for one in settled)


def unsettled(settled: Sequence[np.ndarray]) -> str:
    """How many of the measurements that a claim rests on are not to be trusted, where most are."""
    worst = max(settled, key=lambda one: _lost(one) / max(_known(one), 1), default=np.zeros(0))
    if not _lost(worst):
        return ""
    return f"{_lost(worst)} of {_known(worst)} measurements did not converge."


def few(number: Estimate, count: int) -> str:
    """What the interval of few realizations is worth; that of one is over something else."""
    if isfinite(number.low) and count == 1:
        return "One realization: the interval is that of its directions."
    return range_of(count, "realizations") if isfinite(number.low) else ""


def range_of(count: int, what: str) -> str:
    """What the interval of so few is."""
    if count not in RANGE_COVERS:
        return ""
    return (
        f"{count} {what}: the interval is the range of the resamples, which covers about"
        f" {RANGE_COVERS[count]}."
    )


def lacking(number: Estimate) -> str:
    """Why nothing can be decided, whatever the criterion."""
    if not isfinite(number.value):
        return "There is nothing to compare."
    return "" if isfinite(number.low) else "One realization has no interval."
