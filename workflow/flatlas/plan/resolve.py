"""Resolves a configuration into a plan."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from flatlas.errors import FlatlasError, nearest
from flatlas.plan.data_specs import subset_of
from flatlas.plan.documents import Document, Layer, read_yaml
from flatlas.plan.families.own import Own
from flatlas.plan.ids import kernel_id, measurement_id, run_id, samples_id, source_id
from flatlas.plan.kernel_specs import sampled_kernel
from flatlas.plan.measure_specs import MEASURES, MeasureSpec, second_task
from flatlas.plan.measurements.measurement import Measurement
from flatlas.plan.mistakes import Origin, refuse, validated
from flatlas.plan.my_model import atlas_mine, check_directions, check_same_as, my_model
from flatlas.plan.named_layers import LINEAR, check_layer, check_layers
from flatlas.plan.needs import kernel_needs, measuring_needs, refuse_impossible, training_needs
from flatlas.plan.paths import ATLAS, ATLAS_MINE, MY_MODEL
from flatlas.plan.plan import Drawing, Entry, FigurePlan, Plan
from flatlas.plan.runs import Runs, values_at
from flatlas.plan.settings import Preset, Settings
from flatlas.plan.spec import Spec
from flatlas.plan.studies import Figure, Run, Study
from flatlas.plan.training_specs import RunSpec
from flatlas.plan.trees import USER, Location, dotted, leaves, with_nulls

# To plan one run or measurement of a figure takes as long as to list this many seeds and moments.
ONE_RESULT, MOST_WORKED_OUT = 200, 4_000_000
# The studies that the setting `my_model` makes.
OF_SETTING = (MY_MODEL, ATLAS_MINE)
_OR_OWN = " To declare your own study, give it a title."
# A point of a sweep, the run's settings in the study, its spec, and the place in the file.
Drawn = tuple[dict[str, Any], Run, RunSpec, Origin]


def resolve(config: Mapping[str, Any], root: Path) -> Plan:
    """The plan of a configuration (Snakemake's mapping) with the files under `root`."""
    user = Document(Layer(USER, with_nulls(config)))
    settings = user.validated(Settings)
    preset = _preset(settings.preset, root)
    plan = Plan(settings, preset.validated(Preset))
    files = {path.stem: path for path in sorted((root / "studies").glob("*.yaml"))}
    for changed in (user, preset):
        _check_known(changed, files, settings, may_declare=changed is user)
    _check_scaled(preset, files)
    resolvers: dict[str, _StudyResolver] = {}
    for name, path in files.items():
        resolvers[name] = _StudyResolver(plan, name, _study(path, preset, settings), resolvers)
    own = {name: Document(_changes(settings, name)) for name in settings.studies}
    if settings.my_model:
        check_same_as(settings)
        own[MY_MODEL] = my_model(settings.my_model, root, _changes(settings, MY_MODEL))
        if ATLAS in files:
            atlas = resolvers[ATLAS].document
            changes = _changes(settings, ATLAS_MINE)
            own[ATLAS_MINE] = atlas_mine(settings.my_model, root, atlas, changes)
    for name, document in own.items():
        if name not in files:
            resolvers[name] = _StudyResolver(plan, name, document, resolvers, own=True)
    # Studies that borrow come last, so a mistake in a borrowed entry is reported where it was made.
    for resolver in sorted(resolvers.values(), key=lambda one: one.borrows):
        resolver.resolve()
    for resolver in resolvers.values():
        resolver.check_drawn()
    return plan


def _preset(name: str, root: Path) -> Document:
    presets = {path.stem: path for path in sorted((root / "presets").glob("*.yaml"))}
    if name not in presets:
        raise FlatlasError(
            f"{USER}: preset is {name!r}. Allowed: {', '.join(presets)}.{nearest(name, presets)}"
        )
    return Document(Layer(f"config/presets/{name}.yaml", read_yaml(presets[name])))


def _check_known(
    changed: Document, studies: Collection[str], settings: Settings, may_declare: bool
) -> None:
    """Refuse changes to an unknown study. A file that `may_declare` one must give it a title."""
    for name, tree in changed.tree.get("studies", {}).items():
        if name in studies or (name in OF_SETTING and settings.my_model):
            continue
        place = changed.origin(("studies", name))
        if name in OF_SETTING:
            raise FlatlasError(
                f"{place} needs the setting {MY_MODEL}, which names your network"
                " (docs/bring-your-own.md). A study of your own needs another name."
            )
        if not (may_declare and "title" in tree):
            raise FlatlasError(
                f"{place} is not a study. Allowed: {', '.join(studies)}."
                f"{_OR_OWN if may_declare else ''}{nearest(name, studies)}"
            )


def _check_scaled(preset: Document, studies: Iterable[str]) -> None:
    """Refuse a preset that leaves out a study: it would run at the scale of its own file."""
    changed = preset.tree.get("studies", {})
    for name in studies:
        if changed and name not in changed:
            raise FlatlasError(
                f"{preset.origin(('studies',))} has no entry for the study '{name}', which would"
                f" run at the full scale of config/studies/{name}.yaml. Add studies.{name} with"
                f" what is smaller in this preset, or '{name}: {{}}' to run it at full scale."
            )


def _study(path: Path, preset: Document, settings: Settings) -> Document:
    """A study's file with the changes of the preset and of the user."""
    scaled = preset.tree.get("studies", {}).get(path.stem, {})
    return Document(
        Layer(f"config/studies/{path.name}", read_yaml(path)),
        Layer(f"config/presets/{settings.preset}.yaml", scaled, ("studies", path.stem)),
        _changes(settings, path.stem),
    )


def _changes(settings: Settings, study: str) -> Layer:
    """The user's changes to a study."""
    return Layer(USER, settings.studies.get(study, {}), ("studies", study))


class _StudyResolver:
    """Adds one study to a plan. It may borrow from `studies`; `own` says that it is a user's."""

    def __init__(
        self,
        plan: Plan,
        name: str,
        document: Document,
        studies: Mapping[str, "_StudyResolver"],
        own: bool = False,
    ) -> None:
        self.plan, self.name, self.document, self.studies = plan, name, document, studies
        self.own, self.lends = own, False
        self.study = document.validated(Study)
        self.runs = Runs(self.study, document, plan.settings.sources)

    @property
    def borrows(self) -> bool:
        """Whether the study borrows from another."""
        measures = self.study.measures.values()
        return bool(self.study.borrowed) or any("borrowed" in settings for settings in measures)

    def resolve(self) -> None:
        self.plan.studies[self.name] = self.study
        self.plan.changes[self.name] = self.document.changes()
        self._check_measures()
        self._check_sweeps()
        if self.name == MY_MODEL:
            check_directions(self.study, self.document)
        for name, figure in self.study.figures.items():
            self._named("sweeps", name, figure.sweeps, [*self.study.sweeps, *self.study.borrowed])
            self._named("measures", name, figure.measures, self.study.measures)
            entries = [
                entry for sweep in figure.sweeps for entry in self._entries(sweep, name, figure)
            ]
            self._check_use(name, entries)
            planned = FigurePlan(
                self.name,
                name,
                figure.title,
                self._drawing(name, figure),
                self.own,
                tuple(entries),
                figure.costs,
                claims=figure.claims and not figure.borrowed,
                # A user who changes only the title has not declared the figure.
                place=self.document.origin(("figures", name, "module")).removesuffix(".module"),
            )
            if planned.target in {*self.studies, *self.plan.figures}:
                place = self.document.origin(("figures", name))
                raise FlatlasError(
                    f"{place} has the target '{planned.target}', as another figure or study has:"
                    " rename one of them."
                )
            self.plan.figures[planned.target] = planned
        self.plan.own_files |= self.runs.own_files

    def check_drawn(self) -> None:
        """Refuse a user's study that has no figures, unless another study borrows from it."""
        if self.own and not (self.study.figures or self.lends):
            raise FlatlasError(
                f"{self.document.origin(('figures',))}: the study '{self.name}' has no figures, so"
                " nothing of it would be trained or measured. Add one (docs/bring-your-own.md)."
            )

    def _named(self, kind: str, figure: str, names: Iterable[str], known: Iterable[str]) -> None:
        for name in names:
            if name not in known:
                refuse(self.document.origin(("figures", figure, kind)), name, known)

    def _drawing(self, name: str, figure: Figure) -> Drawing:
        """What draws a figure: its own module, or the module of the figure that it borrows."""
        if figure.borrowed is None:
            if self.own and self.name not in OF_SETTING:
                raise FlatlasError(
                    f"{self.document.origin(('figures', name, 'borrowed'))} is missing. Allowed: "
                    "<study>.<figure>, the figure to draw it as."
                )
            return Drawing(self.name, name, figure.module or name)
        place = self.document.origin(("figures", name, "borrowed"))
        lender, lent = self._lender("figures", figure.borrowed, place)
        drawn = lender.study.figures[lent]
        lacking = [one for one in drawn.measures if one not in figure.measures]
        if lacking and not drawn.where_it_fits:
            raise FlatlasError(
                f"{self.document.origin(('figures', name, 'measures'))} lacks "
                f"{', '.join(lacking)}, which {figure.borrowed} draws."
            )
        return Drawing(lender.name, lent, drawn.module or lent)

    def _check_own_net(self, figure: str, spec: RunSpec, origin: Origin) -> None:
        """Refuse a user's network in a paper's figure: it would overwrite the figure."""
        family = origin(("net", "family"))
        if not self.own and isinstance(spec.net, Own) and family.startswith(USER):
            raise FlatlasError(
                f"{family} is 'own', but figures of {self.name} show the networks of their study."
                f" Draw yours in a study of your own, as in 'borrowed: {self.name}.{figure}'"
                " (docs/bring-your-own.md)."
            )

    def _check_use(self, figure: str, entries: Iterable[Entry]) -> None:
        """A measure that fits none of a figure's runs is a mistake, even if the figure is lenient.

        Not in `atlas_mine`: a user's network can have only some of the atlas' measures.
        """
        if self.name == ATLAS_MINE:
            return
        taken = {name for entry in entries for name in entry.measurements}
        for name in self.study.figures[figure].measures:
            if name not in taken and self.study.figures[figure].sweeps:
                place = self.document.origin(("figures", figure, "measures"))
                raise FlatlasError(f"{place} names '{name}', which fits none of the figure's runs.")

    def _check_measures(self) -> None:
        """Report a mistake in a measure even if no figure needs the measure yet."""
        for name in self.study.measures:
            self._options(name)
        for base, run in self.study.runs.items():
            self._check_changed_measures(run, self.runs.origin(base))

    def _check_sweeps(self) -> None:
        """Report a mistake in a sweep even if no figure draws the sweep yet."""
        for name, borrowed in self.study.borrowed.items():
            for measure in borrowed.measures or ():
                if measure not in self.study.measures:
                    place = self.document.origin(("borrowed", name, "measures"))
                    refuse(place, measure, self.study.measures)
        for sweep in (*self.study.sweeps, *self.study.borrowed):
            runs = [run_id(spec) for _, _, spec, _ in self._specs(sweep)]
            if len(set(runs)) < len(runs):
                kind = "borrowed" if sweep in self.study.borrowed else "sweeps"
                place = self.document.origin((kind, sweep))
                raise FlatlasError(
                    f"{place} has two points that are the same run: remove one of them."
                )

    def _entries(self, sweep: str, target: str, figure: Figure) -> Iterator[Entry]:
        for point, run, spec, origin in self._specs(sweep):
            self._check_own_net(target, spec, origin)
            refuse_impossible(training_needs(spec), partial(_place_of_net, origin, spec))
            measured = {}
            for name in self._wanted(sweep, figure):
                changed = run.measures.get(name, {})
                options = self._options(name, changed).spelled_out(spec)
                place = self._places(name, changed, origin)
                try:
                    _check_fit(options, spec, place)
                except FlatlasError as error:
                    if not figure.where_it_fits:
                        needed_by = f"Figure '{target}' takes this measure of sweep '{sweep}'."
                        raise FlatlasError(f"{error}\n{needed_by}") from None
                else:
                    self._count(spec, sweep)
                    measured[name] = self._measurement(options, spec, place)
            yield Entry(sweep, point, self._keep_run(spec), measured)

    def _wanted(self, sweep: str, figure: Figure) -> list[str]:
        """The measures that a figure takes of the runs of a sweep."""
        borrowed = self.study.borrowed.get(sweep)
        allowed = None if borrowed is None else borrowed.measures
        return [name for name in figure.measures if allowed is None or name in allowed]

    def _specs(self, sweep: str) -> Iterator[Drawn]:
        """The runs of a sweep, the study's own or borrowed."""
        if sweep in self.study.borrowed:
            yield from self._borrowed_specs(sweep)
            return
        base = self.study.sweeps[sweep].run
        if base not in self.study.runs:
            refuse(self.document.origin(("sweeps", sweep, "run")), base, self.study.runs)
        for point, where in self.runs.points(sweep):
            run, spec = self.runs.at(base, point, where)
            origin = self.runs.origin(base, point, where)
            self._count(spec, sweep)
            self._check_changed_measures(run, origin)
            yield values_at(point, run), run, spec, origin

    def _borrowed_specs(self, name: str) -> Iterator[Drawn]:
        """Runs of other studies, each with its sweep `of` and the values that any sweep varies.

        A run's changes to measures are left out: they belong to the measures of its own study.
        """
        borrowed, found = self.study.borrowed[name], []
        for of in borrowed.sweeps:
            place = self.document.origin(("borrowed", name, "sweeps"))
            lender, sweep = self._lender("sweeps", of, place)
            runs = [(of, *one) for one in lender._specs(sweep)]
            found += runs[:1] + runs[1:][-1:] if borrowed.ends else runs
        varied = list(dict.fromkeys(key for _, point, *_ in found for key in point))
        for of, _, run, spec, origin in found:
            known = {
                dotted(place): one for place, one in leaves(run.model_dump(mode="json")).items()
            }
            point = {"of": of} | {key: known[key] for key in varied if key in known}
            yield point, run.model_copy(update={"measures": {}}), spec, origin

    def _lender(self, kind: str, named: str, place: str) -> tuple["_StudyResolver", str]:
        """The study that `<study>.<name>` is borrowed from. It must define the entry itself."""
        study, _, name = named.partition(".")
        others = {key: one for key, one in self.studies.items() if one is not self}
        if study not in others:
            refuse(place, named, others)
        lent = others[study]._lent(kind)
        if name not in lent:
            refuse(place, named, (f"{study}.{key}" for key in lent))
        others[study].lends = True
        return others[study], name

    def _lent(self, kind: str) -> list[str]:
        """The sweeps, measures or figures (not schematics) that are not themselves borrowed."""
        if kind == "sweeps":
            return [*self.study.sweeps]
        if kind == "figures":
            figures = self.study.figures.items()
            return [name for name, one in figures if one.sweeps and one.borrowed is None]
        return [name for name, said in self.study.measures.items() if "borrowed" not in said]

    def _places(
        self, name: str, changed: Mapping[str, Any], origin: Origin
    ) -> Callable[[str], str]:
        """Where each option of a measure is set: in the run that changes it, or in the study."""

        def place(key: str) -> str:
            said = origin if key in changed else self.document.origin
            return said(("measures", name, key))

        return place

    def _measurement(self, options: Measurement, spec: RunSpec, place: Callable[[str], str]) -> str:
        measured = MeasureSpec(options=options.model_dump(), run=spec)
        identity = measurement_id(measured)
        if identity not in self.plan.measurements:
            refuse_impossible(
                measuring_needs(measured), lambda: f"{place('measure')} of {run_id(spec)}"
            )
        kernel = sampled_kernel(measured)
        if kernel is not None:
            refuse_impossible(kernel_needs(kernel), lambda: f"{place('kernel')} of {run_id(spec)}")
            _register(self.plan.kernels, kernel_id(kernel), kernel)
        second = second_task(measured)
        if second is not None:
            _register(self.plan.samples, samples_id(second), second)
        return _register(self.plan.measurements, identity, measured)

    def _check_changed_measures(self, run: Run, origin: Origin) -> None:
        """Report mistakes in a run's changes to measures, too."""
        for name, changes in run.measures.items():
            if name not in self.study.measures:
                refuse(origin(("measures",)), name, self.study.measures)
            if "measure" in changes:
                place = origin(("measures", name, "measure"))
                raise FlatlasError(f"{place} can't change: give the other measure its own name.")
            self._options(name, changes, origin)

    def _options(
        self, name: str, changes: Mapping[str, Any] | None = None, changed: Origin | None = None
    ) -> Measurement:
        """The options of a measure, from the study and the run, checked by the measure's class."""
        settings = {**self._settings(name), **(changes or {})}
        here: Location = ("measures", name)
        if "measure" not in settings:
            place = self.document.origin((*here, "measure"))
            hint = self.document.hint((*here, "measure"))
            raise FlatlasError(f"{place} is missing. Allowed: {', '.join(MEASURES)}.{hint}")
        if str(settings["measure"]) not in MEASURES:
            place = self.document.origin((*here, "measure"))
            refuse(place, str(settings["measure"]), MEASURES)

        def origin(at: Location) -> str:
            by_run = changed is not None and at and at[0] in (changes or {})
            says = changed if changed is not None and by_run else self.document.origin
            return says((*here, *at))

        return validated(MEASURES[settings["measure"]], settings, origin)

    def _settings(self, name: str) -> Mapping[str, Any]:
        """A study's settings of a measure, over those of the study that it is borrowed from."""
        settings = dict(self.study.measures[name])
        borrowed = settings.pop("borrowed", None)
        if borrowed is None:
            return settings
        place = self.document.origin(("measures", name, "borrowed"))
        lender, lent = self._lender("measures", str(borrowed), place)
        return {**lender.study.measures[lent], **settings}

    def _count(self, spec: RunSpec, sweep: str) -> None:
        """Refuse a plan that would take all memory, or minutes to make."""
        moments = len(spec.checkpoints) + len(spec.overtraining)
        self.plan.extent += ONE_RESULT + len(spec.seeds) + moments
        if self.plan.extent > MOST_WORKED_OUT:
            kind = "borrowed" if sweep in self.study.borrowed else "sweeps"
            raise FlatlasError(
                f"{self.document.origin((kind, sweep))} makes the plan too large, with "
                f"{len(spec.seeds):,} realizations and {moments:,} checkpoints of each run. "
                f"Allowed: {MOST_WORKED_OUT // ONE_RESULT:,} runs and measurements in all figures, "
                "or fewer with many realizations and checkpoints. List fewer of any of them."
            )

    def _keep_run(self, spec: RunSpec) -> str:
        if spec.start is not None:
            self._keep_run(spec.start.run)
        samples = spec.samples
        subset = subset_of(samples)
        _register(self.plan.sources, source_id(subset.source), subset.source)
        _register(self.plan.samples, samples_id(subset), subset)
        _register(self.plan.samples, samples_id(samples), samples)
        return _register(self.plan.runs, run_id(spec), spec)


def _place_of_net(origin: Origin, spec: RunSpec) -> str:
    return f"{origin(('net',))} of the training {run_id(spec)}"


def _register(known: dict[str, Any], identity: str, spec: Spec) -> str:
    """Enter a spec under its id, and return the id. Two specs must never share one."""
    if known.setdefault(identity, spec) != spec:
        raise FlatlasError(f"two different specs have the id {identity}: change either a little.")
    return identity


def _check_fit(options: Measurement, spec: RunSpec, place: Callable[[str], str]) -> None:
    """Refuse a measure that can't be taken on a run."""
    layer = getattr(options, "layer", None)
    if layer is not None:
        if options.layer_kind is None:
            check_layers([layer], spec, place("layer"), LINEAR)
        else:
            check_layer(layer, options.layer_kind, spec, place("layer"))
    for key, why in chain(options.not_kept(spec), options.misfits(spec)):
        raise FlatlasError(f"{place(key)} {why}")
