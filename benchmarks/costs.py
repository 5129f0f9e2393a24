"""The time and the peak memory of a computation in a process that does nothing else."""

import multiprocessing
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple


class Cost(NamedTuple):
    """What a computation took."""

    seconds: float
    mebibytes: float

    def __str__(self) -> str:
        """A line of a table."""
        return f"{self.seconds:7.2f} s, peak {self.mebibytes:5.0f} MiB"


def in_new_process(function: Callable[..., Any], *given: Any) -> Any:
    """What a function returns in a new process, whose peak memory belongs to it alone."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        return pool.submit(function, *given).result()


def timed(clock: Callable[[], float], function: Callable[..., Any], *given: Any) -> Any:
    """The cost of a function in this process, and what it returns."""
    began = clock()
    found = function(*given)
    return Cost(clock() - began, memory("VmHWM")), found


def memory(kind: str) -> float:
    """The memory of this process in MiB, now (VmRSS) or at its peak (VmHWM).

    getrusage is no alternative: its peak begins with that of the parent process.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.findall(rf"^{kind}:\s+(\d+) kB$", status, re.MULTILINE)[0]) / 1024
