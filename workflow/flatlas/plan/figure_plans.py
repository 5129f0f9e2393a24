"""The figures of a declared study, with every run and measurement that they show."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from flatlas.errors import FlatlasError
from flatlas.plan.declared_study import DeclaredStudy, SweptRun
from flatlas.plan.drawn_as import drawing_of
from flatlas.plan.families.own import Own
from flatlas.plan.ids import measurement_id, run_id
from flatlas.plan.kernel_specs import sampled_kernel
from flatlas.plan.measure_specs import MeasureSpec, second_task
from flatlas.plan.measurements.measurement import Measurement
from flatlas.plan.mistakes import Origin, refuse
from flatlas.plan.my_model import check_figures
from flatlas.plan.named_layers import LINEAR, check_layer, check_layers
from flatlas.plan.needs import kernel_needs, measuring_needs, refuse_impossible, training_needs
from flatlas.plan.paths import ATLAS_MINE, OF_SETTING
from flatlas.plan.plan import Entry, FigurePlan
from flatlas.plan.source_sizes import too_few_images
from flatlas.plan.studies import Figure
from flatlas.plan.training_specs import RunSpec
from flatlas.plan.trees import USER


@dataclass
class _Fit:
    """What fits the runs of a figure, and what does not."""

    places: set[str] = field(default_factory=set)
    """Where the options of measures are set that fit some run."""
    reasons: dict[str, str] = field(default_factory=dict)
    """The last error of each option that does not fit some run, by its place."""
    skipped: dict[str, str] = field(default_factory=dict)
    """The same by measure."""


def add_study(declared: DeclaredStudy) -> None:
    """Add a study to its plan: its figures, and the results that they need."""
    plan, study = declared.plan, declared.study
    plan.studies[declared.name] = study
    plan.changes[declared.name] = declared.document.changes()
    declared.check()
    if declared.name in OF_SETTING:
        check_figures(declared.name, study, declared.document)
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


def unused(declared: DeclaredStudy) -> Iterator[str]:
    """Where a preset or a user has declared runs, sweeps and measures that no figure needs.

    None in a study that lends: the borrower may need any of them.
    """
    study = declared.study
    if declared.name in OF_SETTING or declared.lends:
        return
    shipped = {} if declared.own else declared.document.layers[0].tree
    figures, runs = study.figures.values(), study.runs.values()
    drawn = {sweep for figure in figures for sweep in figure.sweeps}
    needed = {
        "runs": {one.run for one in (*study.sweeps.values(), *(run.start for run in runs)) if one},
        "sweeps": drawn,
        "borrowed": drawn,
        "measures": {measure for figure in figures for measure in figure.measures},
    }
    for kind, names in needed.items():
        for name in getattr(study, kind):
            if name not in names and name not in shipped.get(kind, {}):
                yield declared.document.origin((kind, name))


def _figure_plan(declared: DeclaredStudy, name: str, figure: Figure) -> FigurePlan:
    study, document = declared.study, declared.document
    known = {"sweeps": [*study.sweeps, *study.borrowed], "measures": [*study.measures]}
    for kind, names in known.items():
        for one in getattr(figure, kind):
            if one not in names:
                refuse(document.origin(("figures", name, kind)), one, names)
    fit = _Fit()
    swept = (_entries(declared, sweep, name, figure, fit) for sweep in figure.sweeps)
    entries = [*chain.from_iterable(swept)]
    _check_use(declared, name, entries, fit)
    _check_groups(declared, name, entries)
    return FigurePlan(
        declared.name,
        name,
        figure.title,
        drawing_of(declared, name, figure, entries),
        declared.own,
        tuple(entries),
        figure.costs,
        claims=figure.claims and not figure.borrowed,
        # A user who changes only the title has not declared the figure.
        place=document.origin(("figures", name, "module")).removesuffix(".module"),
    )


def _check_use(declared: DeclaredStudy, name: str, entries: Iterable[Entry], fit: _Fit) -> None:
    """What fits none of a figure's runs is a mistake, even if the figure is lenient.

    That is a measure, or an option that a user changed in a shipped study. Not a measure of
    `atlas_mine`: a user's network can have only some of the atlas' measures.
    """
    shipped = declared.name in OF_SETTING or not declared.own
    for place, error in fit.reasons.items():
        if shipped and place.startswith(USER) and place not in fit.places:
            raise FlatlasError(error)
    figure = declared.study.figures[name]
    if declared.name == ATLAS_MINE or not figure.sweeps:
        return
    taken = {measure for entry in entries for measure in entry.measurements}
    for measure in figure.measures:
        if measure not in taken:
            place = declared.document.origin(("figures", name, "measures"))
            why = fit.skipped.get(measure, "")
            raise FlatlasError(
                f"{place} names '{measure}', which fits none of the figure's runs.\n{why}".rstrip()
            )


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


def _entries(
    declared: DeclaredStudy, sweep: str, name: str, figure: Figure, fit: _Fit
) -> Iterator[Entry]:
    """The runs of a sweep. `fit` gets what fits them and what does not."""
    for swept in declared.runs_of(sweep):
        first = run_id(swept.groups[0])
        _check_own_net(declared, name, swept.groups[0], swept.origin)
        for spec in swept.groups:
            refuse_impossible(training_needs(spec), partial(_place_of_net, swept.origin, spec))
            measured = _measurements(declared, sweep, name, figure, swept, spec, fit)
            run = declared.plan.add_run(spec)
            yield Entry(sweep, swept.point, run, first, measured)


def _measurements(
    declared: DeclaredStudy,
    sweep: str,
    name: str,
    figure: Figure,
    swept: SweptRun,
    spec: RunSpec,
    fit: _Fit,
) -> dict[str, str]:
    """The ids of what is measured of a group of realizations, by the names of the measures."""
    measured = {}
    for measure in _wanted(declared, sweep, figure):
        changed = swept.run.measures.get(measure, {})
        options = declared.options(measure, changed, swept.origin).spelled_out(spec)
        origin = declared.origin_of_options(measure, changed, swept.origin)
        misfit = _misfit(options, spec, origin)
        if misfit is None:
            fit.places.update(origin((option,)) for option in type(options).model_fields)
            measured[measure] = _measurement(declared, sweep, options, spec, origin)
            continue
        option, why = misfit
        error = f"{why}\nFigure '{name}' takes this measure of sweep '{sweep}'."
        if not figure.where_it_fits:
            raise FlatlasError(error)
        fit.skipped[measure] = why
        fit.reasons[origin((option,))] = error
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


def _misfit(options: Measurement, spec: RunSpec, origin: Origin) -> tuple[str, str] | None:
    """The option for which a measure can't be taken on a run, and the error; None if it can."""
    layer = getattr(options, "layer", None)
    try:
        if layer is not None and options.layer_kind is None:
            check_layers([layer], spec, origin(("layer",)), LINEAR)
        elif layer is not None and options.layer_kind is not None:
            check_layer(layer, options.layer_kind, spec, origin(("layer",)))
    except FlatlasError as error:
        return "layer", str(error)
    for key, why in chain(options.not_kept(spec), options.too_large(spec), options.misfits(spec)):
        return key, f"{origin((key,))} {why}"
    return None


def _measurement(
    declared: DeclaredStudy, sweep: str, options: Measurement, spec: RunSpec, origin: Origin
) -> str:
    """Add a measurement to the plan, unless no machine could take it. Returns its id."""
    plan, measured = declared.plan, MeasureSpec(options=options.model_dump(), run=spec)
    second = second_task(measured)
    for key, why in too_few_images(second) if second else ():
        raise FlatlasError(f"{origin(('task',))} has another task, whose {key} {why}")
    identity = measurement_id(measured)
    if identity not in plan.measurements:
        declared.count(spec, sweep)
        refuse_impossible(
            measuring_needs(measured), lambda: f"{origin(('measure',))} of {run_id(spec)}"
        )
    kernel = sampled_kernel(measured)
    if kernel is not None:
        refuse_impossible(kernel_needs(kernel), lambda: f"{origin(('kernel',))} of {run_id(spec)}")
    return plan.add_measurement(identity, measured)


def _place_of_net(origin: Origin, spec: RunSpec) -> str:
    return f"{origin(('net',))} of the training {run_id(spec)}"
