"""What a figure was drawn from, in a sentence or two."""

from collections.abc import Mapping, Sequence, Sized
from typing import Any

from flatlas.reasons import counted


def facts(realizations: Mapping[str, Sequence[Mapping[str, Any]]], data: Sequence[str]) -> str:
    """How many trainings a figure has, on which data, and how they ended.

    `realizations` has for each run its seeds and how each training ended.
    """
    if not realizations:
        return "Computed without training."
    each = [one for run in realizations.values() for one in run]
    seeds = sorted({int(one["seed"]) for one in each})
    among = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"
    drawn = (
        f"Drawn from {_count(each, 'training')} on {' and '.join(data)}:"
        f" {_count(realizations, 'setting')}, {among}."
    )
    reasons = [str(one["reason"]) for one in each if not one["converged"]]
    if not reasons:
        return f"{drawn} All met their stopping rule."
    return f"{drawn} {len(reasons)} met no stopping rule ({counted(reasons)})."


def _count(what: Sized, word: str) -> str:
    return f"{len(what)} {word}{'s' * (len(what) != 1)}"
