"""What draws a figure: its own module, or the module of the figure that it borrows."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from flatlas.errors import FlatlasError
from flatlas.plan.declared_study import DeclaredStudy
from flatlas.plan.mistakes import refuse
from flatlas.plan.networks import NEEDED
from flatlas.plan.paths import OF_SETTING
from flatlas.plan.plan import Drawing, Entry
from flatlas.plan.studies import Figure, Sweep


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
            _check_declared(declared, name, figure, entries)
        return Drawing(declared.name, name, figure.module or name)
    lender, lent = declared.lender("figures", figure.borrowed, place)
    drawn = lender.study.figures[lent]
    lacking = _lacking(drawn.measures, figure, drawn.where_it_fits)
    shared = [one for one in drawn.measures if one in figure.measures]
    kinds = {one: lender.options(one).measure for one in shared}
    _check_measures(declared, name, figure.borrowed, lacking, kinds)
    if drawn.fixed:
        axes = _axes(lender.study.sweeps, drawn)
        _check_fixed(declared, name, figure.borrowed, entries, drawn.sweeps, axes)
    for sweep in drawn.sweeps:
        found = {key for entry in entries if entry.sweep == sweep for key in entry.point}
        if sweep in figure.sweeps and sweep in lender.study.sweeps:
            varied = lender.study.sweeps[sweep].varied
            _check_varied(declared, sweep, found, figure.borrowed, varied)
    return Drawing(lender.name, lent, drawn.module or lent)


def _check_declared(
    declared: DeclaredStudy, name: str, figure: Figure, entries: Collection[Entry]
) -> None:
    """Refuse a paper's figure if its module can't draw what a preset or a user has made of it."""
    study = declared.document.layers[0].tree
    own = study.get("figures", {}).get(name, {})
    if own.get("sweeps") and not figure.sweeps:
        place = declared.document.origin(("figures", name, "sweeps"))
        raise FlatlasError(f"{place} is []. Allowed: at least one of {', '.join(own['sweeps'])}.")
    drawn = own.get("measures", ())
    # A measure that is borrowed has the kind of another study's.
    options = {one: study["measures"][one] for one in drawn if one in figure.measures}
    kinds = {one: given["measure"] for one, given in options.items() if "measure" in given}
    lacking = _lacking(drawn, figure, own.get("where_it_fits", False))
    drawn_as = f"{declared.name}.{name}"
    _check_measures(declared, name, drawn_as, lacking, kinds)
    if figure.fixed:
        shipped = {one: Sweep.model_validate(study["sweeps"][one]) for one in own["sweeps"]}
        axes = _axes(shipped, figure)
        _check_fixed(declared, name, drawn_as, entries, own["sweeps"], axes)


def _lacking(drawn: Iterable[str], figure: Figure, lenient: bool) -> list[str]:
    """What a figure lacks of the measures that its module draws.

    A lenient module needs only the measure of the networks' errors.
    """
    lacking = [one for one in drawn if one not in figure.measures]
    return [one for one in lacking if one == NEEDED] if lenient else lacking


def _check_measures(
    declared: DeclaredStudy,
    name: str,
    drawn_as: str,
    lacking: Sequence[str],
    kinds: Mapping[str, str],
) -> None:
    """Refuse a figure that lacks measures, or has another measure under the name of one it draws.

    Its module reads their tables, so it would fail after all trainings.
    """
    if lacking:
        raise FlatlasError(
            f"{declared.document.origin(('figures', name, 'measures'))} lacks "
            f"{', '.join(lacking)}, which {drawn_as} draws."
        )
    for one, drawn in kinds.items():
        kind = declared.options(one).measure
        if kind != drawn:
            place = declared.document.origin(("measures", one, "measure"))
            raise FlatlasError(
                f"{place} is '{kind}', but {drawn_as} draws '{drawn}' under this name. Give "
                "the other measure another name."
            )


def _axes(sweeps: Mapping[str, Sweep], figure: Figure) -> dict[str, str | None]:
    """The key over which a figure draws each sweep, if it does."""
    return {name: one.axis for name, one in sweeps.items()} if figure.fixed == "axes" else {}


def _check_fixed(
    declared: DeclaredStudy,
    name: str,
    drawn_as: str,
    entries: Collection[Entry],
    sweeps: Collection[str],
    axes: Mapping[str, str | None],
) -> None:
    """Refuse a sweep that has no place in a figure, and two runs in the same place on an axis.

    The figure would leave out the first after all its trainings, and fail with the second.
    """
    runs = {(entry.sweep, entry.first): entry.point for entry in entries}
    for sweep in dict.fromkeys(sweep for sweep, _ in runs):
        if sweep not in sweeps:
            place = declared.document.origin(("figures", name, "sweeps"))
            refuse(place, sweep, sweeps, f", but {drawn_as} has a place only for its own sweeps")
        if (axis := axes.get(sweep)) is None:
            continue
        values = [point.get(axis) for (of, _), point in runs.items() if of == sweep]
        several = sum(values.count(value) > 1 for value in values)
        if several:
            raise FlatlasError(
                f"{declared.place(sweep)} has {several} runs with the same {axis}, over which "
                f"{drawn_as} draws it. Vary nothing else in it."
            )


def _check_varied(
    declared: DeclaredStudy, sweep: str, found: Collection[str], figure: str, keys: Sequence[str]
) -> None:
    """Refuse a sweep that varies none of the `keys` of its namesake in a borrowed figure.

    The figure would have no values to draw it over, and its panels would be empty.
    """
    if keys and not any(f"{one}.".startswith(f"{key}.") for one in found for key in keys):
        raise FlatlasError(
            f"{declared.place(sweep)} varies {', '.join(found) or 'nothing'}, but {figure} draws a "
            f"sweep of this name over {', '.join(keys)}. Vary one of these, or give the sweep "
            "another name."
        )
