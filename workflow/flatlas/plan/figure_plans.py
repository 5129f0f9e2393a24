"""The figures of a declared study, with every run and measurement that they show."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.plan.declared_study import DeclaredStudy, SweptRun
from flatlas.plan.families.own import Own
from flatlas.plan.ids import measurement_id, run_id
from flatlas.plan.kernel_specs import sampled_kernel
from flatlas.plan.measure_specs import MeasureSpec, second_task
from flatlas.plan.measurements.measurement import Measurement
from flatlas.plan.mistakes import Origin, refuse
from flatlas.plan.my_model import check_directions
from flatlas.plan.named_layers import LINEAR, check_layer, check_layers
from flatlas.plan.needs import kernel_needs, measuring_needs, refuse_impossible, training_needs
from flatlas.plan.networks import NEEDED
from flatlas.plan.paths import ATLAS_MINE, MY_MODEL
from flatlas.plan.plan import Drawing, Entry, FigurePlan
from flatlas.plan.source_sizes import too_few_images
from flatlas.plan.studies import Figure
from flatlas.plan.training_specs import RunSpec
from flatlas.plan.trees import USER

# The studies that the setting `my_model` makes.
OF_SETTING = (MY_MODEL, ATLAS_MINE)


def add_study(declared: DeclaredStudy) -> None:
    """Add a study to its plan: its figures, and the results that they need."""
    plan, study = declared.plan, declared.study
    plan.studies[declared.name] = study
    plan.changes[declared.name] = declared.document.changes()
    declared.check()
    if declared.name == MY_MODEL:
        check_directions(study, declared.document)
    for name, figure in study.figures.items():
        planned = _figure_plan(declared, name, figure)
        if planned.target in {*declared.studies, *plan.figures}:
            raise FlatlasError(
                f"{declared.document.origin(('figures', name))} has the target "
                f"'{planned.target}', as another figure or study has: rename one of them."
            )
        plan.figures[planned.target] = planned
    plan.own_files |= declared.runs.own_files


def check_drawn(declared: DeclaredStudy) -> None:
    """Refuse a user's study that has no figures, unless another study borrows from it."""
    if declared.own and not (declared.study.figures or declared.lends):
        raise FlatlasError(
            f"{declared.document.origin(('figures',))}: the study '{declared.name}' has no "
            "figures, so nothing of it would be trained or measured. Add one "
            "(docs/bring-your-own.md)."
        )


def _figure_plan(declared: DeclaredStudy, name: str, figure: Figure) -> FigurePlan:
    study, document = declared.study, declared.document
    known = {"sweeps": [*study.sweeps, *study.borrowed], "measures": [*study.measures]}
    for kind, names in known.items():
        for one in getattr(figure, kind):
            if one not in names:
                refuse(document.origin(("figures", name, kind)), one, names)
    entries = [one for sweep in figure.sweeps for one in _entries(declared, sweep, name, figure)]
    _check_use(declared, name, entries)
    _check_groups(declared, name, entries)
    return FigurePlan(
        declared.name,
        name,
        figure.title,
        _drawing(declared, name, figure, entries),
        declared.own,
        tuple(entries),
        figure.costs,
        claims=figure.claims and not figure.borrowed,
        # A user who changes only the title has not declared the figure.
        place=document.origin(("figures", name, "module")).removesuffix(".module"),
    )


def _drawing(
    declared: DeclaredStudy, name: str, figure: Figure, entries: Iterable[Entry]
) -> Drawing:
    """What draws a figure: its own module, or the module of the figure that it borrows."""
    place = declared.document.origin(("figures", name, "borrowed"))
    if figure.borrowed is None:
        if declared.own and declared.name not in OF_SETTING:
            raise FlatlasError(
                f"{place} is missing. Allowed: <study>.<figure>, the figure to draw it as."
            )
        if not declared.own:
            _check_declared_measures(declared, name, figure)
        return Drawing(declared.name, name, figure.module or name)
    lender, lent = declared.lender("figures", figure.borrowed, place)
    drawn = lender.study.figures[lent]
    lacking = _lacking(drawn.measures, figure, drawn.where_it_fits)
    kinds = {one: lender.options(one).measure for one in drawn.measures}
    _check_measures(declared, name, figure.borrowed, lacking, kinds)
    for sweep in drawn.sweeps:
        found = {key for entry in entries if entry.sweep == sweep for key in entry.point}
        if sweep in figure.sweeps and sweep in lender.study.sweeps:
            varied = lender.study.sweeps[sweep].varied
            _check_varied(declared, sweep, found, figure.borrowed, varied)
    return Drawing(lender.name, lent, drawn.module or lent)


def _check_declared_measures(declared: DeclaredStudy, name: str, figure: Figure) -> None:
    """Refuse a paper's figure that a preset or a user has deprived of its own measures."""
    study = declared.document.layers[0].tree
    drawn = study.get("figures", {}).get(name, {}).get("measures", ())
    kinds = {one: study["measures"][one].get("measure") for one in figure.measures if one in drawn}
    # A measure that is borrowed has the kind of another study's.
    known = {one: kind for one, kind in kinds.items() if kind is not None}
    lacking = _lacking(drawn, figure, figure.where_it_fits)
    _check_measures(declared, name, f"{declared.name}.{name}", lacking, known)


def _lacking(drawn: Iterable[str], figure: Figure, lenient: bool) -> list[str]:
    """What a figure lacks of the measures that its module draws.

    A lenient module can do without any measure but that of the networks' errors.
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
    for one in {*kinds}.intersection(declared.study.figures[name].measures):
        kind = declared.options(one).measure
        if kind != kinds[one]:
            place = declared.document.origin(("measures", one, "measure"))
            raise FlatlasError(
                f"{place} is '{kind}', but {drawn_as} draws '{kinds[one]}' under this name. Give "
                "the other measure another name."
            )


def _check_varied(
    declared: DeclaredStudy, sweep: str, found: Collection[str], figure: str, keys: Sequence[str]
) -> None:
    """Refuse a sweep that varies other `keys` than the one of its name in a borrowed figure.

    The figure would have no values to draw it over, and its panels would be empty.
    """
    if keys and not any(f"{one}.".startswith(f"{key}.") for one in found for key in keys):
        raise FlatlasError(
            f"{declared.place(sweep)} varies {', '.join(found) or 'nothing'}, but {figure} draws a "
            f"sweep of this name over {', '.join(keys)}. Vary one of these, or give the sweep "
            "another name."
        )


def _check_use(declared: DeclaredStudy, name: str, entries: Iterable[Entry]) -> None:
    """A measure that fits none of a figure's runs is a mistake, even if the figure is lenient.

    Not in `atlas_mine`: a user's network can have only some of the atlas' measures.
    """
    figure = declared.study.figures[name]
    if declared.name == ATLAS_MINE or not figure.sweeps:
        return
    taken = {measure for entry in entries for measure in entry.measurements}
    for measure in figure.measures:
        if measure not in taken:
            place = declared.document.origin(("figures", name, "measures"))
            raise FlatlasError(f"{place} names '{measure}', which fits none of the figure's runs.")


def _check_groups(declared: DeclaredStudy, name: str, entries: Iterable[Entry]) -> None:
    """Refuse sweeps that share a run but not all of its groups.

    Where a figure needs a run once, it takes the rows of one sweep.
    """
    groups: dict[str, dict[str, set[str]]] = {}
    for entry in entries:
        groups.setdefault(entry.first, {}).setdefault(entry.sweep, set()).add(entry.run)
    for by_sweep in groups.values():
        if len({*map(frozenset, by_sweep.values())}) > 1:
            raise FlatlasError(
                f"{declared.document.origin(('figures', name, 'sweeps'))}: {', '.join(by_sweep)} "
                "have a run in common, but not all of its groups of realizations. Give it the same "
                "'realizations' in all of them."
            )


def _entries(declared: DeclaredStudy, sweep: str, target: str, figure: Figure) -> Iterator[Entry]:
    for swept in declared.runs_of(sweep):
        first = run_id(swept.groups[0])
        _check_own_net(declared, target, swept.groups[0], swept.origin)
        for spec in swept.groups:
            refuse_impossible(training_needs(spec), partial(_place_of_net, swept.origin, spec))
            measured = _measurements(declared, sweep, target, figure, swept, spec)
            run = declared.plan.add_run(spec)
            yield Entry(sweep, swept.point, run, first, measured)


def _measurements(
    declared: DeclaredStudy,
    sweep: str,
    target: str,
    figure: Figure,
    swept: SweptRun,
    spec: RunSpec,
) -> dict[str, str]:
    """The ids of what is measured of a group of realizations, by the names of the measures."""
    measured = {}
    for name in _wanted(declared, sweep, figure):
        changed = swept.run.measures.get(name, {})
        options = declared.options(name, changed).spelled_out(spec)
        place = _places(declared, name, changed, swept.origin)
        try:
            _check_fit(options, spec, place)
        except FlatlasError as error:
            if not figure.where_it_fits:
                needed_by = f"Figure '{target}' takes this measure of sweep '{sweep}'."
                raise FlatlasError(f"{error}\n{needed_by}") from None
        else:
            measured[name] = _measurement(declared, sweep, options, spec, place)
    return measured


def _check_own_net(declared: DeclaredStudy, figure: str, spec: RunSpec, origin: Origin) -> None:
    """Refuse a user's network in a paper's figure: it would overwrite the figure."""
    family = origin(("net", "family"))
    if not declared.own and isinstance(spec.net, Own) and family.startswith(USER):
        raise FlatlasError(
            f"{family} is 'own', but figures of {declared.name} show the networks of their study."
            f" Draw yours in a study of your own, as in 'borrowed: {declared.name}.{figure}'"
            " (docs/bring-your-own.md)."
        )


def _wanted(declared: DeclaredStudy, sweep: str, figure: Figure) -> list[str]:
    """The measures that a figure takes of the runs of a sweep."""
    borrowed = declared.study.borrowed.get(sweep)
    allowed = None if borrowed is None else borrowed.measures
    return [name for name in figure.measures if allowed is None or name in allowed]


def _places(
    declared: DeclaredStudy, name: str, changed: Mapping[str, Any], origin: Origin
) -> Callable[[str], str]:
    """Where each option of a measure is set: in the run that changes it, or in the study."""

    def place(key: str) -> str:
        said = origin if key in changed else declared.document.origin
        return said(("measures", name, key))

    return place


def _check_fit(options: Measurement, spec: RunSpec, place: Callable[[str], str]) -> None:
    """Refuse a measure that can't be taken on a run."""
    layer = getattr(options, "layer", None)
    if layer is not None:
        if options.layer_kind is None:
            check_layers([layer], spec, place("layer"), LINEAR)
        else:
            check_layer(layer, options.layer_kind, spec, place("layer"))
    for key, why in chain(options.not_kept(spec), options.too_large(spec), options.misfits(spec)):
        raise FlatlasError(f"{place(key)} {why}")


def _measurement(
    declared: DeclaredStudy,
    sweep: str,
    options: Measurement,
    spec: RunSpec,
    place: Callable[[str], str],
) -> str:
    """Add a measurement to the plan, unless no machine could take it. Returns its id."""
    plan, measured = declared.plan, MeasureSpec(options=options.model_dump(), run=spec)
    second = second_task(measured)
    for key, why in too_few_images(second) if second else ():
        raise FlatlasError(f"{place('task')} has another task, whose {key} {why}")
    identity = measurement_id(measured)
    if identity not in plan.measurements:
        declared.count(spec, sweep)
        refuse_impossible(
            measuring_needs(measured), lambda: f"{place('measure')} of {run_id(spec)}"
        )
    kernel = sampled_kernel(measured)
    if kernel is not None:
        refuse_impossible(kernel_needs(kernel), lambda: f"{place('kernel')} of {run_id(spec)}")
    return plan.add_measurement(identity, measured)


def _place_of_net(origin: Origin, spec: RunSpec) -> str:
    return f"{origin(('net',))} of the training {run_id(spec)}"
