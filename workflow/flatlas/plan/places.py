"""What a figure's module has a place for: which sweeps, which of their runs, which moments.

After all trainings, the module would leave out anything else, or fail.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product

from flatlas.errors import FlatlasError
from flatlas.plan.declared_study import DeclaredStudy
from flatlas.plan.mistakes import refuse
from flatlas.plan.plan import Entry
from flatlas.plan.studies import Sweep
from flatlas.plan.trees import is_within

# The moment at which the rule was met. A figure that declares this moment draws no other.
RULE_MET = ("met+0",)


def check_sweeps(
    declared: DeclaredStudy,
    name: str,
    drawn_as: str,
    sweeps: Collection[str],
    entries: Iterable[Entry],
) -> None:
    """Refuse a sweep that a figure has no place for."""
    for sweep in dict.fromkeys(entry.sweep for entry in entries):
        if sweep not in sweeps:
            place = declared.document.origin(("figures", name, "sweeps"))
            refuse(place, sweep, sweeps, f", but {drawn_as} has a place only for its own sweeps")


def check_runs(
    declared: DeclaredStudy,
    drawn_as: str,
    sweeps: Mapping[str, Sweep],
    entries: Collection[Entry],
    judged: bool,
) -> None:
    """Refuse runs of a sweep that lack a value on its axis, or share one.

    In a figure that is `judged`, also refuse a second run of a sweep that was declared with one.
    """
    for name, sweep in sweeps.items():
        runs = {entry.first: entry.point for entry in entries if entry.sweep == name}
        if sweep.axis is not None:
            _check_axis(declared.place(name), drawn_as, sweep.axis, [*runs.values()])
        elif judged and sweep.count == 1 and len(runs) > 1:
            raise FlatlasError(
                f"{declared.place(name)} has {len(runs)} runs, but {drawn_as} judges one: keep "
                "one, or draw the sweep in a study of your own."
            )


def _check_axis(
    place: str, drawn_as: str, axis: str, points: Sequence[Mapping[str, object]]
) -> None:
    # The axis may be a mapping, such as `optimizer`.
    values = [
        {key: one for key, one in point.items() if is_within(key, axis) and one is not None}
        for point in points
    ]
    none, several = values.count({}), sum(values.count(value) > 1 for value in values)
    if none:
        raise FlatlasError(
            f"{place} has {none} of {len(values)} runs without {axis}, over which {drawn_as} draws "
            "it. Give each of them a value."
        )
    if several:
        raise FlatlasError(
            f"{place} has {several} runs with the same {axis}, over which {drawn_as} draws it. "
            "Give each run another value."
        )


def check_moments(
    declared: DeclaredStudy,
    drawn_as: str,
    moments: Mapping[str, Sequence[str | int]],
    entries: Collection[Entry],
) -> None:
    """Refuse measures at other moments, if a figure draws only the one when the rule is met."""
    for entry, (measure, drawn) in product(entries, moments.items()):
        taken = entry.measurements.get(measure)
        if tuple(drawn) != RULE_MET or taken is None:
            continue
        if RULE_MET[0] not in declared.plan.measurements[taken].options.at:
            raise FlatlasError(
                f"{declared.place(entry.sweep)} has runs whose measure '{measure}' lacks "
                f"{RULE_MET[0]}, the only moment that {drawn_as} draws: set at: [{RULE_MET[0]}] in "
                "the measure, and overtraining: [0] in the run. A checkpoint that is not trained "
                "has no such moment."
            )
