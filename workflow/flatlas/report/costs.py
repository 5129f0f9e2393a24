"""What the jobs of a plan cost: time and memory where they were made, an estimate where not.

Measured times stand in the record beside each result. A job that was not made is taken to need as
long for a unit of work as those do that were made here, on this machine: of the same stage and the
same net where there are any, else of the same stage; of these the nearest in size. Trainings are
compared by the epochs that they may take, as if the same share of them were taken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf, log, nan
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from flatlas.store.costs import read_cost

# Stages that only draw tables of images, listed as one.
DATA = ("source", "subset", "attack_set", "label_noise", "functions")
# Of so many jobs, the nearest in size, the one in the middle is taken.
NEIGHBOURS = 5


@dataclass(frozen=True)
class Job:
    """One job: what is known beforehand, and, where it was made, its seconds and its memory."""

    stage: str
    net: str
    units: float
    seconds: float = nan
    peak_mib: float = nan

    @property
    def made(self) -> bool:
        """Whether a record of it was found."""
        return self.seconds == self.seconds


def measured(provenance: str | Path) -> dict[str, float]:
    """Seconds and peak memory from the record beside a result; nothing where there is none."""
    return read_cost(provenance) if Path(provenance).exists() else {}


def jobs_from(told: Mapping[str, Mapping[str, Any]]) -> dict[str, Job]:
    """The planned jobs with what was measured of them; each tells where its `provenance` lies."""
    return {
        name: Job(one["stage"], one["net"], one["units"], **measured(one["provenance"]))
        for name, one in told.items()
    }


def estimate(job: Job, known: Sequence[Job]) -> float:
    """Seconds that a job may take, by jobs that were made; NaN where none is like it."""
    alike = [one for one in known if one.stage == job.stage]
    alike = [one for one in alike if one.net == job.net] or alike
    nearest = sorted(alike, key=lambda one: abs(log(one.units / job.units)))[:NEIGHBOURS]
    return median(one.seconds / one.units * job.units for one in nearest) if nearest else nan


def cost_of_stages(jobs: Mapping[str, Job]) -> pd.DataFrame:
    """A row a stage: how many jobs were made, how long they took, their largest memory."""
    columns = [field.name for field in fields(Job)]
    made = pd.DataFrame([vars(job) for job in jobs.values() if job.made], columns=columns)
    grouped = made.groupby("stage", sort=False)
    table = grouped["seconds"].agg(jobs="count", seconds="sum", longest="max")
    return table.assign(peak_mib=grouped["peak_mib"].max()).reset_index()


def estimates(jobs: Mapping[str, Job], known: Sequence[Job]) -> dict[str, float]:
    """Seconds that each job may take that was not made; NaN where none like it was made."""
    return {name: estimate(job, known) for name, job in jobs.items() if not job.made}


def cost_of_targets(
    jobs: Mapping[str, Job], needed: Mapping[str, Sequence[str]], guesses: Mapping[str, float]
) -> pd.DataFrame:
    """A row a figure or study: its jobs made and not made, what those took, what these may take.

    A job that several need counts for each of them, and once in `all`.
    """
    every = sorted({name for names in needed.values() for name in names})
    rows = [
        {
            "target": target,
            **_sum(jobs, names, guesses),
            "peak_mib": max(
                (jobs[name].peak_mib for name in names if jobs[name].made), default=nan
            ),
        }
        for target, names in [*needed.items(), ("all", every)]
    ]
    return pd.DataFrame(rows)


def cost_of_measures(
    jobs: Mapping[str, Job], needed: Mapping[str, Sequence[str]], guesses: Mapping[str, float]
) -> pd.DataFrame:
    """A row for each measure (and training, data, ...) and each of the studies in `needed`.

    The most expensive measure comes first. A job that several studies need counts for each of
    them, and once where the study is `all`.
    """
    every = sorted({name for names in needed.values() for name in names})
    rows = []
    for study, names in [("all", every), *needed.items()]:
        stages: dict[str, list[str]] = {}
        for name in names:
            stage = jobs[name].stage
            stages.setdefault("data" if stage in DATA else stage, []).append(name)
        rows += [
            {"measure": stage, "study": study, **_sum(jobs, some, guesses)}
            for stage, some in stages.items()
        ]
    table = pd.DataFrame(rows)
    seconds = table["measured_seconds"] + table["estimated_seconds"]
    return (
        table.assign(most=seconds.groupby(table["measure"]).transform("max"), seconds=seconds)
        .sort_values(["most", "measure", "seconds"], ascending=[False, True, False], kind="stable")
        .drop(columns=["most", "seconds"])
        .reset_index(drop=True)
    )


def _sum(
    jobs: Mapping[str, Job], names: Sequence[str], guesses: Mapping[str, float]
) -> dict[str, Any]:
    """Of some jobs: how many there are and were made, and the seconds of both kinds."""
    made = [jobs[name].seconds for name in names if jobs[name].made]
    left = [guesses[name] for name in names if not jobs[name].made]
    return {
        "jobs": len(names),
        "made": len(made),
        "measured_seconds": round(sum(made), 1),
        "estimated_seconds": round(sum(guess for guess in left if guess == guess), 1),
        "without_estimate": sum(guess != guess for guess in left),
    }


def readable(table: pd.DataFrame) -> str:
    """The costs of figures as a table for a terminal."""
    rows = [("target", "jobs", "made", "measured", "estimated", "memory")]
    for _, row in table.iterrows():
        more = f" + {row.without_estimate} unknown" if row.without_estimate else ""
        rows.append(
            (
                str(row.target),
                str(row.jobs),
                str(row.made),
                duration(row.measured_seconds),
                duration(row.estimated_seconds) + more,
                "" if row.peak_mib != row.peak_mib else f"{row.peak_mib / 1024:.1f} GiB",
            )
        )
    return _aligned(rows)


def readable_measures(table: pd.DataFrame) -> str:
    """Core-minutes by measure and study as a table for a terminal.

    An estimate, or a sum with one in it, has a `~`; `?` marks jobs of which nothing is known.
    """
    studies = list(dict.fromkeys(table["study"]))
    cells = {(row.measure, row.study): _minutes(row) for _, row in table.iterrows()}
    rows = [("core-minutes", *studies)]
    for measure in dict.fromkeys(table["measure"]):
        rows.append((measure, *(cells.get((measure, study), "") for study in studies)))
    return _aligned(rows)


def _minutes(row: pd.Series) -> str:
    minutes = (row.measured_seconds + row.estimated_seconds) / 60
    told = f"{'~' * bool(row.estimated_seconds)}{minutes:.1f}" if minutes else ""
    return told + "?" * bool(row.without_estimate)


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    """Columns under each other: the first to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def duration(seconds: float) -> str:
    """Seconds as a person says them: 40 s, 12 min, 3.5 h; a dash for none."""
    if seconds == 0:
        return "–"
    for unit, size, most in (("s", 1.0, 100.0), ("min", 60.0, 100.0), ("h", 3600.0, inf)):
        if seconds < most * size:
            told = seconds / size
            return f"{told:.1f} {unit}" if told < 10 else f"{told:.0f} {unit}"
    raise AssertionError("an infinite time")
