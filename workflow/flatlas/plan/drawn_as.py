"""What draws a figure: its own module, or the module of the figure that it borrows."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from flatlas.errors import FlatlasError
from flatlas.plan.declared_study import DeclaredStudy
from flatlas.plan.networks import NEEDED
from flatlas.plan.paths import OF_SETTING
from flatlas.plan.plan import Drawing, Entry
from flatlas.plan.studies import Figure


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
            _check_declared(declared, name, figure)
        return Drawing(declared.name, name, figure.module or name)
    lender, lent = declared.lender("figures", figure.borrowed, place)
    drawn = lender.study.figures[lent]
    lacking = _lacking(drawn.measures, figure, drawn.where_it_fits)
    shared = [one for one in drawn.measures if one in figure.measures]
    kinds = {one: lender.options(one).measure for one in shared}
    _check_measures(declared, name, figure.borrowed, lacking, kinds)
    for sweep in drawn.sweeps:
        found = {key for entry in entries if entry.sweep == sweep for key in entry.point}
        if sweep in figure.sweeps and sweep in lender.study.sweeps:
            varied = lender.study.sweeps[sweep].varied
            _check_varied(declared, sweep, found, figure.borrowed, varied)
    return Drawing(lender.name, lent, drawn.module or lent)


def _check_declared(declared: DeclaredStudy, name: str, figure: Figure) -> None:
    """Refuse a paper's figure that a preset or a user has deprived of its sweeps or measures."""
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
    _check_measures(declared, name, f"{declared.name}.{name}", lacking, kinds)


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
