"""The time and the peak memory of a computation in a process that does nothing else."""

import multiprocessing
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple


class Cost(NamedTuple):
    """What a computation took."""

    seconds: float
    mebibytes: float

    def __str__(self) -> str:
        """A line of a table."""
        return f"{self.seconds:7.2f} s, peak {self.mebibytes:5.0f} MiB"


def in_new_process(function: Callable[..., Any], *given: Any) -> Any:
    """What a function returns in a new process, whose peak memory is its alone."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        return pool.submit(function, *given).result()


def timed(clock: Callable[[], float], function: Callable[..., Any], *given: Any) -> Any:
    """The cost of a function in this process, and what it returns."""
    began = clock()
    found = function(*given)
    seconds = clock() - began
    return Cost(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024), found
