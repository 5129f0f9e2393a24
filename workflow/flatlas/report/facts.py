"""What a figure was drawn from, in a sentence or two, from the record beside it."""

from collections.abc import Mapping, Sequence, Sized
from typing import Any


def facts(
    realizations: Mapping[str, Sequence[Mapping[str, Any]]], data: Sequence[str], outdated: str = ""
) -> str:
    """`realizations` has for each run its seeds, and how the training of each ended.

    What is said of a figure that is `outdated` comes last.
    """
    before = f" {outdated}" if outdated else ""
    if not realizations:
        return f"Computed, from no training.{before}"
    each = [one for seeds in realizations.values() for one in seeds]
    seeds = sorted({int(one["seed"]) for one in each})
    among = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"
    told = (
        f"Drawn from {_counted(each, 'training')} on {' and '.join(data)}:"
        f" {_counted(realizations, 'setting')}, {among}."
    )
    reasons: dict[str, int] = {}
    for one in each:
        if not one["converged"]:
            reasons[str(one["reason"])] = reasons.get(str(one["reason"]), 0) + 1
    if not reasons:
        return f"{told} All met their stopping rule.{before}"
    why = ", ".join(f"{reason}: {count}" for reason, count in sorted(reasons.items()))
    return f"{told} {sum(reasons.values())} met no stopping rule ({why}).{before}"


def _counted(what: Sized, word: str) -> str:
    return f"{len(what)} {word}{'s' * (len(what) != 1)}"
