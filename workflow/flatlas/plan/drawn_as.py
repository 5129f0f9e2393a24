"""What draws a figure: its own module, or the module of the figure that it borrows."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from flatlas.errors import FlatlasError
from flatlas.plan.declared_study import DeclaredStudy
from flatlas.plan.networks import NEEDED
from flatlas.plan.paths import OF_SETTING
from flatlas.plan.places import check_moments, check_runs, check_sweeps
from flatlas.plan.plan import Drawing, Entry
from flatlas.plan.studies import Figure, Sweep
from flatlas.plan.trees import is_within


@dataclass(frozen=True)
class Shipped:
    """What a module draws: a figure as its study declares it, with its sweeps and measures.

    `kinds` and `moments` are the options `measure` and `at` of its measures; no moments by default.
    """

    name: str
    figure: Figure
    sweeps: Mapping[str, Sweep]
    kinds: Mapping[str, str]
    moments: Mapping[str, Sequence[str | int]]


def drawing_of(
    declared: DeclaredStudy, name: str, figure: Figure, entries: Collection[Entry]
) -> Drawing:
    """What draws a figure: its own module, or the module of the figure that it borrows."""
    place = declared.document.origin(("figures", name, "borrowed"))
    if figure.borrowed is None:
        if declared.own and declared.name not in OF_SETTING:
            raise FlatlasError(
                f"{place} is missing. Allowed: <study>.<figure>, the figure to draw it as."
            )
        if not declared.own:
            shipped = _shipped(declared, name)
            _check_sweeps_left(declared, name, figure, shipped)
            _check(declared, name, figure, shipped, entries)
        return Drawing(declared.name, name, figure.module or name)
    lender, lent = declared.lender("figures", figure.borrowed, place)
    shipped = _shipped(lender, lent)
    _check_varied(declared, figure, shipped, entries)
    _check(declared, name, figure, shipped, entries)
    return Drawing(lender.name, lent, lender.study.figures[lent].module or lent)


def _shipped(declared: DeclaredStudy, name: str) -> Shipped:
    """A figure as its study's file declares it, or as it is now if the file does not have it."""
    study = declared.document.layers[0].tree
    if name not in study.get("figures", {}):
        study = declared.document.tree
    figure = Figure.model_validate(study["figures"][name])
    own = study.get("sweeps", {})
    sweeps = {one: Sweep.model_validate(own[one]) for one in figure.sweeps if one in own}
    measures = {one: study.get("measures", {}).get(one, {}) for one in figure.measures}
    # The kind of a borrowed measure is in the study that lends it.
    kinds = {
        one: given.get("measure") or declared.options(one).measure
        for one, given in measures.items()
    }
    moments = {one: tuple(given.get("at", ())) for one, given in measures.items()}
    return Shipped(f"{declared.name}.{name}", figure, sweeps, kinds, moments)


def _check(
    declared: DeclaredStudy,
    name: str,
    figure: Figure,
    shipped: Shipped,
    entries: Collection[Entry],
) -> None:
    """Refuse a figure if its module can't draw what a preset or a user has made of it."""
    _check_measures(declared, name, figure, shipped)
    drawn = shipped.figure
    if drawn.fixed:
        check_sweeps(declared, name, shipped.name, drawn.sweeps, entries)
    judged = figure.borrowed is None
    if drawn.axes == "drawn" or (drawn.axes and judged):
        check_runs(declared, shipped.name, shipped.sweeps, entries, judged)
    check_moments(declared, shipped.name, shipped.moments, entries)


def _check_sweeps_left(
    declared: DeclaredStudy, name: str, figure: Figure, shipped: Shipped
) -> None:
    """Refuse a paper's figure that has lost all its sweeps, and a schematic that has got some."""
    place = declared.document.origin(("figures", name, "sweeps"))
    if shipped.figure.sweeps and not figure.sweeps:
        allowed = ", ".join(shipped.figure.sweeps)
        raise FlatlasError(f"{place} is []. Allowed: at least one of {allowed}.")
    if figure.sweeps and not shipped.figure.sweeps:
        raise FlatlasError(f"{place}: {shipped.name} is a schematic, which draws no sweeps.")


def _check_measures(declared: DeclaredStudy, name: str, figure: Figure, shipped: Shipped) -> None:
    """Refuse a figure that lacks measures, or has another measure under the name of one it draws.

    Its module reads their tables, so it would fail after all trainings.
    """
    lacking = _lacking(shipped.figure, figure.measures)
    if lacking:
        raise FlatlasError(
            f"{declared.document.origin(('figures', name, 'measures'))} lacks "
            f"{', '.join(lacking)}, which {shipped.name} draws."
        )
    for one, drawn in shipped.kinds.items():
        if one in figure.measures and (kind := declared.options(one).measure) != drawn:
            place = declared.document.origin(("measures", one, "measure"))
            raise FlatlasError(
                f"{place} is '{kind}', but {shipped.name} draws '{drawn}' under this name. Give "
                "the other measure another name."
            )


def _lacking(drawn: Figure, measures: Collection[str]) -> list[str]:
    """The measures that a module draws but a figure lacks.

    A lenient module needs only the measure of the networks' errors.
    """
    lacking = [one for one in drawn.measures if one not in measures]
    return [one for one in lacking if one == NEEDED] if drawn.where_it_fits else lacking


def _check_varied(
    declared: DeclaredStudy, figure: Figure, shipped: Shipped, entries: Iterable[Entry]
) -> None:
    """Refuse a sweep that varies none of the keys of its namesake in a borrowed figure.

    The figure would have no values to draw it over, and its panels would be empty.
    """
    points = [(entry.sweep, key) for entry in entries for key in entry.point]
    for sweep, lent in shipped.sweeps.items():
        found = dict.fromkeys(key for of, key in points if of == sweep)
        if (
            sweep in figure.sweeps
            and lent.varied
            and not any(is_within(one, key) for one in found for key in lent.varied)
        ):
            raise FlatlasError(
                f"{declared.place(sweep)} varies {', '.join(found) or 'nothing'}, but "
                f"{shipped.name} draws a sweep of this name over {', '.join(lent.varied)}. Vary "
                "one of these, or give the sweep another name."
            )
