"""How long jobs take: measured if they ran, else estimated from comparable jobs.

Measured times are in the record beside each result. A job that has not run is assumed to take as
long per unit of work as others: jobs of the same stage and net if there are any, else of the same
stage, and among these the nearest in size. Trainings are compared by the epochs that they may take
at most, as if each used the same share of these.

flatlas comes with the times of some jobs of each stage and net (`docs/made/costs/*_jobs.csv`). They
stand in for jobs that have not run here, scaled by the speed of this machine.
"""

import csv
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from math import isnan, log, nan
from pathlib import Path
from statistics import median
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.store.costs import read_cost

SHIPPED = Path(__file__).parents[3] / "docs" / "made" / "costs"
# An estimate is the median of at most this many jobs. Their sizes differ from that of the job by at
# most twice the factor by which the nearest one does.
NEIGHBOURS, MARGIN = 5, log(2)
# This machine's speed is estimated as if this many more seconds of jobs had taken exactly as long
# here as the shipped costs say, because the time of short jobs depends on their files more than on
# the machine.
AS_SHIPPED = 60.0


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
        """Whether the job ran: a record of it was found."""
        return not isnan(self.seconds)


def measured(provenance: str | Path) -> dict[str, float]:
    """Seconds and peak memory from the record beside a result; nothing if there is none."""
    return read_cost(provenance) if Path(provenance).exists() else {}


def measured_if_intact(provenance: str | Path) -> dict[str, float]:
    """Seconds and peak memory from such a record; nothing if it is missing or damaged."""
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
    away = sorted((abs(log(one.units / job.units)), one.seconds / one.units) for one in alike)
    near = [rate for distance, rate in away[:NEIGHBOURS] if distance <= away[0][0] + MARGIN]
    return median(near) * job.units if near else nan


def known_costs(ran: Iterable[JobCost], preset: str) -> list[JobCost]:
    """The costs behind estimates: jobs that ran here, and shipped costs at this machine's speed.

    A shipped cost is left out if a job of its stage and net ran here.
    """
    shipped = shipped_costs(preset)
    again = {record: measured_if_intact(record).get("seconds", nan) for record in shipped}
    repeated = (replace(one, seconds=again[record]) for record, one in shipped.items())
    here = [*ran, *(one for one in repeated if one.ran)]
    slower = _slower(here, shipped.values())
    kinds = {(one.stage, one.net) for one in here}
    others = [one for one in shipped.values() if (one.stage, one.net) not in kinds]
    return [*here, *(replace(one, seconds=one.seconds * slower) for one in others)]


def _slower(here: Iterable[JobCost], shipped: Collection[JobCost]) -> float:
    """The total time of the jobs here, relative to what the shipped costs predict."""
    took = said = AS_SHIPPED
    for one in here:
        expected = estimate(one, shipped)
        if not isnan(expected):
            took, said = took + one.seconds, said + expected
    return took / said


def shipped_costs(preset: str) -> dict[str, JobCost]:
    """The costs that flatlas comes with, by the path of the record that the job would write.

    For each stage and net, the costs of the preset itself if there are any. Other presets measure
    with other options, which the size does not count.
    """
    costs = {path.stem: _read(path) for path in sorted(SHIPPED.glob("*_jobs.csv"))}
    own = costs.pop(f"{preset}_jobs", {})
    kinds = {(one.stage, one.net) for one in own.values()}
    others = (item for rows in costs.values() for item in rows.items())
    return own | {name: one for name, one in others if (one.stage, one.net) not in kinds}


def _read(path: Path) -> dict[str, JobCost]:
    with path.open(encoding="utf-8", newline="") as file:
        return {
            row["provenance"]: JobCost(
                row["stage"], row["net"], float(row["units"]), float(row["seconds"])
            )
            for row in csv.DictReader(file)
        }
