"""What the jobs of a plan cost: seconds and memory of those that ran, an estimate for the others.

Measured times are in the record beside each result. A job that has not run is assumed to take as
long per unit of work as jobs that ran here: those of the same stage and net if there are any, else
those of the same stage, and of these the nearest in size. Trainings are compared by the epochs that
they may take, as if each took the same share of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log, nan
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from flatlas.plan.paths import DRAWN
from flatlas.store.costs import read_cost

# Stages that only select or draw images, listed as one.
DATA = ("source", *DRAWN)
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


def cost_of_stages(jobs: Mapping[str, JobCost]) -> pd.DataFrame:
    """A row for each stage: how many jobs ran, their time, the longest, the largest memory."""
    grouped = (
        pd.DataFrame([*jobs.values()]).query("seconds == seconds").groupby("stage", sort=False)
    )
    return grouped.agg(
        jobs=("seconds", "count"),
        seconds=("seconds", "sum"),
        longest=("seconds", "max"),
        peak_mib=("peak_mib", "max"),
    ).reset_index()


def needed_jobs(
    jobs: Mapping[str, JobCost], needed: Mapping[str, Sequence[str]], known: Sequence[JobCost]
) -> pd.DataFrame:
    """A row for each job that a target needs, and once for `all`, with its time or an estimate."""
    every = sorted({name for names in needed.values() for name in names})
    guesses = {name: nan if job.ran else estimate(job, known) for name, job in jobs.items()}
    rows = [
        (target, jobs[name].stage, jobs[name].seconds, jobs[name].peak_mib, guesses[name])
        for target, names in [("all", every), *needed.items()]
        for name in names
    ]
    table = pd.DataFrame(rows, columns=["target", "stage", "seconds", "peak_mib", "guess"])
    unknown = table["seconds"].isna() & table["guess"].isna()
    return table.assign(unknown=unknown, measure=table["stage"].replace(list(DATA), "data"))


def cost_of_targets(needed: pd.DataFrame) -> pd.DataFrame:
    """A row for each figure or study, and the last for all: jobs, times, the largest memory.

    A job that several need counts for each of them, and once in `all`.
    """
    table = _sums(needed, ["target"]).join(needed.groupby("target")["peak_mib"].max())
    everything = table.index == "all"
    return pd.concat([table[~everything], table[everything]]).reset_index()


def cost_of_measures(needed: pd.DataFrame) -> pd.DataFrame:
    """A row for each measure (and training, data, ...) and study, the most expensive first."""
    table = _sums(needed, ["measure", "target"])
    seconds = table["measured_seconds"] + table["estimated_seconds"]
    most = seconds.groupby("measure").transform("max")
    table = table.assign(most=most, seconds=seconds).rename_axis(["measure", "study"]).reset_index()
    order = table.sort_values(
        ["most", "measure", "seconds"], ascending=[False, True, False], kind="stable"
    )
    return order.drop(columns=["most", "seconds"]).reset_index(drop=True)


def _sums(needed: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Of the jobs in each group: how many there are and ran, and the seconds of both kinds."""
    return (
        needed.groupby(by, sort=False)
        .agg(
            jobs=("stage", "size"),
            made=("seconds", "count"),
            measured_seconds=("seconds", "sum"),
            estimated_seconds=("guess", "sum"),
            without_estimate=("unknown", "sum"),
        )
        .round({"measured_seconds": 1, "estimated_seconds": 1})
    )


def readable(table: pd.DataFrame) -> str:
    """The costs of figures as a table for a terminal."""
    rows = [("target", "jobs", "made", "measured", "estimated", "memory")]
    for row in table.to_dict("records"):
        unknown = f" + {row['without_estimate']} unknown" if row["without_estimate"] else ""
        times = duration(row["measured_seconds"]), duration(row["estimated_seconds"]) + unknown
        memory = "" if pd.isna(row["peak_mib"]) else f"{row['peak_mib'] / 1024:.1f} GiB"
        rows.append((row["target"], str(row["jobs"]), str(row["made"]), *times, memory))
    return _aligned(rows)


def readable_measures(table: pd.DataFrame) -> str:
    """Core-minutes by measure and study as a table for a terminal.

    `~` marks an estimate or a sum with one in it, `?` jobs without an estimate.
    """
    cells = table.assign(minutes=table.apply(_minutes, axis=1))
    cells = cells.pivot(index="measure", columns="study", values="minutes").fillna("")
    cells = cells.loc[table["measure"].unique(), table["study"].unique()]
    return _aligned([("core-minutes", *cells.columns), *cells.itertuples(name=None)])


def _minutes(row: pd.Series) -> str:
    minutes = (row.measured_seconds + row.estimated_seconds) / 60
    number = f"{'~' * bool(row.estimated_seconds)}{minutes:.1f}" if minutes else ""
    return number + "?" * bool(row.without_estimate)


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
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
