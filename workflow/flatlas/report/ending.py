"""The last lines of a successful run: where its figures are, and how their claims came out."""

from collections.abc import Collection, Iterable
from pathlib import Path

import pandas as pd

from flatlas.claims.claim import FLATLAS, PAPER
from flatlas.plan.lookup import Job, Lookup
from flatlas.plan.paths import ATLAS_MINE, PLACE
from flatlas.reasons import counted
from flatlas.report.verdicts import SIGNS, Counts, count_verdicts, in_words
from flatlas.store.tables import read_table

# The figure of the user's networks among those of the atlas.
PLACED = f"{ATLAS_MINE}_{PLACE}"


def ending(plan: Lookup, rules: Collection[str], page: str | None) -> list[str]:
    """A line each on the figures, the page, the networks and the claims of a run of these rules."""
    figures = [plan.jobs[target] for target in plan.figures if target in rules]
    # With --touch a run makes nothing.
    jobs = [job for job in figures if all(Path(file).is_file() for file in job.outputs.values())]
    pictures = [job.outputs["png"] for job in jobs]
    lines = []
    if len(pictures) == 1:
        lines.append(f"Figure: {pictures[0]}")
    elif pictures:
        folders = dict.fromkeys(str(Path(picture).parent) for picture in pictures)
        lines.append(f"{len(pictures)} figures: {', '.join(folders)}")
    if page:
        lines.append(f"Page: {page}")
    lines += _no_solutions(jobs)
    if PLACED in rules:
        lines += _not_compared(plan.jobs[PLACED].outputs["csv"])
    if tables := [job.outputs["claims"] for job in jobs if "claims" in job.outputs]:
        lines += _claims(tables, plan.judged)
        if len(tables) == 1:
            lines[-1] += f" ({tables[0]})"
    return lines


def _no_solutions(jobs: Iterable[Job]) -> list[str]:
    """How many of the networks drawn did not converge, and why; no line if all did."""
    files = dict.fromkeys(file for job in jobs for file in job.inputs.get("outcomes", ()))
    if not files:
        return []
    outcomes = pd.concat(map(read_table, files), ignore_index=True)
    reasons = outcomes.loc[~outcomes["converged"], "reason"]
    if reasons.empty:
        return []
    why = counted(reasons)
    return [f"Networks that did not converge: {len(reasons)} of {len(outcomes)} ({why})"]


def _not_compared(file: str) -> list[str]:
    """Why none of the user's networks was compared with the atlas; no line if one was.

    The table has no rows if none of the networks is a solution.
    """
    placed = read_table(file)
    if placed.empty or placed["networks"].any():
        return []
    return [f"Nothing could be compared with the atlas ({placed['why'].mode()[0]})"]


def _claims(tables: list[str], judged: bool) -> list[str]:
    verdicts = count_verdicts(pd.concat(map(read_table, tables), ignore_index=True))
    if not judged:
        return [f"Claims: {verdicts.claimed + verdicts.questions}, none judged at this scale"]
    lines = {
        "Claims": _verdicts(verdicts.papers, PAPER),
        "Questions of ours": _verdicts(verdicts.ours, FLATLAS),
    }
    return [f"{name}: {words}" for name, words in lines.items() if words]


def _verdicts(counts: Counts, whose: str) -> str:
    """The number of each verdict; '' if there are no verdicts."""
    words = [
        f"{SIGNS[verdict]} {count} {in_words(verdict, whose)}" for verdict, count in counts.items()
    ]
    return ", ".join(words) if any(counts.values()) else ""
