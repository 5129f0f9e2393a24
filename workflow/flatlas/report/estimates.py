"""How long jobs take: those that ran as measured, the others like comparable jobs.

Measured times are in the record beside each result. A job that has not run is assumed to take as
long per unit of work as others: those of the same stage and net if there are any, else those of the
same stage, and of these the nearest in size. Trainings are compared by the epochs that they may
take, as if each took the same share of them.

flatlas comes with the times of some jobs of each stage and net (`docs/made/costs/*_jobs.csv`). They
count for what has not run here, scaled by the speed of this machine.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log, nan
from pathlib import Path
from statistics import median
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.store.costs import read_cost

SHIPPED = Path(__file__).parents[3] / "docs" / "made" / "costs"
# An estimate is the median of this many jobs.
NEIGHBOURS = 5


@dataclass(frozen=True)
class JobCost:
    """The size of a job and, if it ran, its seconds and its memory."""

    stage: str
    net: str
    units: float
    seconds: float = nan
    peak_mib: float = nan

    @property
    def ran(self) -> bool:
        """Whether a record of it was found."""
        return self.seconds == self.seconds


def measured(provenance: str | Path) -> dict[str, float]:
    """Seconds and peak memory from the record beside a result; nothing if there is none."""
    return read_cost(provenance) if Path(provenance).exists() else {}


def measured_if_intact(provenance: str | Path) -> dict[str, float]:
    """The same; nothing, too, if the record is damaged."""
    try:
        return measured(provenance)
    except FlatlasError:
        return {}


def read_costs(jobs: Mapping[str, Mapping[str, Any]]) -> dict[str, JobCost]:
    """The planned jobs with what was measured, each given with the path of its `provenance`."""
    return {
        name: JobCost(job["stage"], job["net"], job["units"], **measured(job["provenance"]))
        for name, job in jobs.items()
    }


def estimate(job: JobCost, known: Iterable[JobCost]) -> float:
    """Seconds that a job may take, from jobs that ran; NaN if none is like it."""
    alike = [one for one in known if one.stage == job.stage]
    alike = [one for one in alike if one.net == job.net] or alike
    nearest = sorted(alike, key=lambda one: abs(log(one.units / job.units)))[:NEIGHBOURS]
    return median(one.seconds / one.units * job.units for one in nearest) if nearest else nan


def known_costs(ran: Iterable[JobCost]) -> list[JobCost]:
    """What estimates use: jobs that ran here and, at the speed of this machine, shipped costs.

    A shipped cost is left out if a job of its stage and net ran here.
    """
    shipped = shipped_costs()
    again = {record: measured_if_intact(record) for record in shipped}
    here = [*ran, *(replace(one, **again[name]) for name, one in shipped.items() if again[name])]
    ratios = [one.seconds / estimate(one, shipped.values()) for one in here]
    slower = median([one for one in ratios if one == one] or [1.0])
    kinds = {(one.stage, one.net) for one in here}
    others = [one for one in shipped.values() if (one.stage, one.net) not in kinds]
    return [*here, *(replace(one, seconds=one.seconds * slower) for one in others)]


def shipped_costs() -> dict[str, JobCost]:
    """The costs that flatlas comes with, by the path of the record that the job would write."""
    costs = {}
    for path in sorted(SHIPPED.glob("*_jobs.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                size, seconds = float(row["units"]), float(row["seconds"])
                costs[row["provenance"]] = JobCost(row["stage"], row["net"], size, seconds)
    return costs


def aligned(rows: Sequence[tuple[str, ...]]) -> str:
    """Columns below each other: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """Seconds as a person says them: 40 s, 12 min, 3.5 h; a dash for none."""
    if seconds == 0:
        return "–"
    for unit, size, most in (("s", 1.0, 100.0), ("min", 60.0, 100.0), ("h", 3600.0, inf)):
        if seconds < most * size:
            count = seconds / size
            return f"{count:.1f} {unit}" if count < 10 else f"{count:.0f} {unit}"
    raise AssertionError("an infinite time")
