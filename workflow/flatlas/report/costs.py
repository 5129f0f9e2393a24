"""Tables of what the jobs of a plan cost: by stage, by figure and study, by measure."""

from collections.abc import Mapping, Sequence
from math import nan

import pandas as pd

from flatlas.plan.paths import SAMPLING
from flatlas.report.estimates import JobCost, estimate
from flatlas.report.readable import aligned, duration

# Stages that only select or draw images, listed together.
DATA = ("source", *SAMPLING)


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


def middle_jobs(jobs: Mapping[str, JobCost]) -> pd.DataFrame:
    """For each stage and net, the job of median size among those that ran, with its record.

    flatlas comes with such tables, for estimates on a machine where little has run.
    """
    rows = [(record, job.stage, job.net, job.units, job.seconds) for record, job in jobs.items()]
    table = pd.DataFrame(rows, columns=["provenance", "stage", "net", "units", "seconds"])
    table = table.dropna(subset="seconds").sort_values(["stage", "net", "units"])
    kinds = table.groupby(["stage", "net"])
    return table[kinds.cumcount() == kinds["units"].transform("size") // 2]


def needed_jobs(
    jobs: Mapping[str, JobCost], needed: Mapping[str, Sequence[str]], known: Sequence[JobCost]
) -> pd.DataFrame:
    """A row for each job that a target needs, and once for `all`, with its time or an estimate."""
    every = sorted({name for names in needed.values() for name in names})
    guesses = {name: nan if job.ran else estimate(job, known) for name, job in jobs.items()}
    rows = [
        (target, job.stage, job.units, job.seconds, job.peak_mib, guesses[name])
        for target, names in [("all", every), *needed.items()]
        for name, job in ((name, jobs[name]) for name in names)
    ]
    columns = ["target", "stage", "units", "seconds", "peak_mib", "guess"]
    table = pd.DataFrame(rows, columns=columns)
    unknown = table["seconds"].isna() & table["guess"].isna()
    return table.assign(unknown=unknown, measure=table["stage"].replace(list(DATA), "data"))


def cost_of_targets(needed: pd.DataFrame) -> pd.DataFrame:
    """A row for each figure or study, then one for all: jobs, times, size, the largest memory.

    A job that several of them need counts for each, and once in `all`.
    """
    others = needed.groupby("target").agg(units=("units", "sum"), peak_mib=("peak_mib", "max"))
    table = _sums(needed, ["target"]).join(others)
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
    """For each group: the number of jobs, how many ran, their measured and estimated seconds."""
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
    return aligned(rows)


def readable_measures(table: pd.DataFrame) -> str:
    """Core-minutes by measure and study as a table for a terminal.

    `~` marks an estimate or a sum with one in it, `?` jobs without an estimate.
    """
    cells = table.assign(minutes=table.apply(_minutes, axis=1))
    cells = cells.pivot(index="measure", columns="study", values="minutes").fillna("")
    cells = cells.loc[table["measure"].unique(), table["study"].unique()]
    return aligned([("core-minutes", *cells.columns), *cells.itertuples(name=None)])


def _minutes(row: pd.Series) -> str:
    minutes = (row.measured_seconds + row.estimated_seconds) / 60
    number = f"{'~' * bool(row.estimated_seconds)}{minutes:.1f}" if minutes else ""
    return number + "?" * bool(row.without_estimate)
