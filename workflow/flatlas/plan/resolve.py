"""Configuration resolved, once, into a plan."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, get_args

from flatlas.errors import FlatlasError, nearest
from flatlas.plan.data_specs import (
    AttackSpec,
    Boolean,
    FunctionsSpec,
    NoiseSpec,
    SamplesSpec,
    SourceSpec,
    SubsetSpec,
    shape_and_classes,
    subset_of,
)
from flatlas.plan.documents import (
    Document,
    Layer,
    Location,
    Origin,
    dotted,
    read_yaml,
    validated,
)
from flatlas.plan.fingerprint import find
from flatlas.plan.ids import kernel_id, measurement_id, run_id, samples_id, source_id
from flatlas.plan.kernel_specs import sampled_kernel
from flatlas.plan.measure_specs import MEASURES, MeasureSpec, second_task
from flatlas.plan.measurements.measurement import Measurement
from flatlas.plan.net_specs import LayerKind, ModuleSpec, NetSpec, Own, layer_names
from flatlas.plan.plan import Entry, FigurePlan, Plan
from flatlas.plan.settings import Preset, Settings
from flatlas.plan.spec import Spec
from flatlas.plan.studies import Data, Figure, Run, Start, Study
from flatlas.plan.training_specs import RunSpec, StartSpec, Training

# How messages call what the user says; Snakemake has merged it before we see it.
USER = "config/config.yaml (or --configfile, --config)"
# All kinds of layer, and those whose pre-activations are linear in their weights.
KINDS: tuple[LayerKind, ...] = get_args(LayerKind)
LINEAR: tuple[LayerKind, ...] = ("convolution", "dense")
# A base run as the study has it.
NO_CHANGES: Mapping[str, Any] = {}


def resolve(config: Mapping[str, Any], root: Path) -> Plan:
    """The plan of a configuration (a mapping as Snakemake has it) with the files under `root`."""
    user = Document(Layer(USER, config))
    settings = user.validated(Settings)
    preset = _preset(settings.preset, root)
    plan = Plan(settings, preset.validated(Preset))
    files = {path.stem: path for path in sorted((root / "studies").glob("*.yaml"))}
    for laid_over in (user, preset):
        for name in laid_over.tree.get("studies", {}):
            if name not in files:
                raise FlatlasError(
                    f"{laid_over.origin(('studies', name))} is no study. "
                    f"Allowed: {', '.join(files)}.{nearest(name, files)}"
                )
    resolvers: dict[str, _StudyResolver] = {}
    for name, path in files.items():
        study_root: Location = ("studies", name)
        document = Document(
            Layer(f"config/studies/{path.name}", read_yaml(path)),
            Layer(
                f"config/presets/{plan.preset}.yaml",
                preset.tree.get("studies", {}).get(name, {}),
                study_root,
            ),
            Layer(
                USER,
                plan.settings.studies.get(name, {}),
                study_root,
            ),
        )
        resolvers[name] = _StudyResolver(plan, name, document, resolvers)
    # A mistake in what is borrowed is told where it was made.
    for resolver in sorted(resolvers.values(), key=lambda one: one.borrows):
        resolver.resolve()
    return plan


def _preset(name: str, root: Path) -> Document:
    presets = {path.stem: path for path in sorted((root / "presets").glob("*.yaml"))}
    if name not in presets:
        raise FlatlasError(
            f"{USER}: preset is {name!r}. Allowed: {', '.join(presets)}.{nearest(name, presets)}"
        )
    return Document(Layer(f"config/presets/{name}.yaml", read_yaml(presets[name])))


class _StudyResolver:
    """Adds one study to a plan. `studies` are all of them, to borrow from."""

    def __init__(
        self, plan: Plan, name: str, document: Document, studies: Mapping[str, "_StudyResolver"]
    ) -> None:
        self.plan, self.name, self.document, self.studies = plan, name, document, studies
        self.study = document.validated(Study)

    @property
    def borrows(self) -> bool:
        """Whether anything is of another study."""
        measures = self.study.measures.values()
        return bool(self.study.borrowed) or any("borrowed" in settings for settings in measures)

    def resolve(self) -> None:
        self.plan.studies[self.name] = self.study
        self.plan.changes[self.name] = self.document.changes()
        self._check_measures()
        self._check_sweeps()
        for name, figure in self.study.figures.items():
            self._named("sweeps", name, figure.sweeps, [*self.study.sweeps, *self.study.borrowed])
            self._named("measures", name, figure.measures, self.study.measures)
            entries = [entry for sweep in figure.sweeps for entry in self._entries(sweep, figure)]
            self._check_use(name, entries)
            planned = FigurePlan(self.name, name, figure.title, tuple(entries), figure.costs)
            self.plan.figures[planned.target] = planned

    def _named(self, kind: str, figure: str, names: Iterable[str], known: Iterable[str]) -> None:
        for name in names:
            if name not in known:
                _refuse(self.document.origin(("figures", figure, kind)), name, known)

    def _check_use(self, figure: str, entries: Iterable[Entry]) -> None:
        """A measure that fits none of a figure's runs is a mistake, however lenient the figure."""
        taken = {name for entry in entries for name in entry.measurements}
        for name in self.study.figures[figure].measures:
            if name not in taken and self.study.figures[figure].sweeps:
                place = self.document.origin(("figures", figure, "measures"))
                raise FlatlasError(f"{place} names '{name}', which fits none of the figure's runs.")

    def _check_measures(self) -> None:
        """A mistake in a measure is told whether or not a figure needs it yet."""
        for name in self.study.measures:
            self._options(name)

    def _check_sweeps(self) -> None:
        """A mistake in a sweep is told whether or not a figure draws it yet."""
        for name, borrowed in self.study.borrowed.items():
            for measure in borrowed.measures or ():
                if measure not in self.study.measures:
                    place = self.document.origin(("borrowed", name, "measures"))
                    _refuse(place, measure, self.study.measures)
        for sweep in (*self.study.sweeps, *self.study.borrowed):
            runs = [run_id(spec) for _, _, spec in self._specs(sweep)]
            if len(set(runs)) < len(runs):
                kind = "borrowed" if sweep in self.study.borrowed else "sweeps"
                place = self.document.origin((kind, sweep))
                raise FlatlasError(f"{place} has two points that are the same run: say one once.")

    def _entries(self, sweep: str, figure: Figure) -> Iterator[Entry]:
        for point, run, spec in self._specs(sweep):
            measured = {}
            for name in self._wanted(sweep, figure):
                options = self._options(name, run.measures.get(name, {})).spelled_out(spec)
                try:
                    self._check_fit(name, options, spec)
                except FlatlasError:
                    if not figure.where_it_fits:
                        raise
                else:
                    measured[name] = self._measurement(options, spec)
            yield Entry(sweep, point, self._keep_run(spec), measured)

    def _wanted(self, sweep: str, figure: Figure) -> list[str]:
        """The measures of a figure that a sweep lets be taken of its runs."""
        borrowed = self.study.borrowed.get(sweep)
        allowed = None if borrowed is None else borrowed.measures
        return [name for name in figure.measures if allowed is None or name in allowed]

    def _specs(self, sweep: str) -> Iterator[tuple[dict[str, Any], Run, RunSpec]]:
        """The points of a sweep, what the study says of the run there, and the run."""
        if sweep in self.study.borrowed:
            yield from self._borrowed_specs(sweep)
            return
        base = self.study.sweeps[sweep].run
        if base not in self.study.runs:
            _refuse(self.document.origin(("sweeps", sweep, "run")), base, self.study.runs)
        for point, where in self._points(sweep):
            run, spec = self._run(base, point, where)
            yield _resolved(point, run), run, spec

    def _borrowed_specs(self, name: str) -> Iterator[tuple[dict[str, Any], Run, RunSpec]]:
        """Runs of other studies: each `of` its sweep, and told whatever any of the sweeps varies.

        What its own study changes about measures on a run belongs to the measures of that study.
        """
        borrowed, found = self.study.borrowed[name], []
        for of in borrowed.sweeps:
            place = self.document.origin(("borrowed", name, "sweeps"))
            lender, sweep = self._lender("sweeps", of, place)
            runs = [(of, *one) for one in lender._specs(sweep)]
            found += runs[:1] + runs[1:][-1:] if borrowed.ends else runs
        told = list(dict.fromkeys(key for _, point, _, _ in found for key in point))
        for of, _, run, spec in found:
            known = _leaves("", run.model_dump(mode="json"))
            point = {"of": of} | {key: known[key] for key in told if key in known}
            yield point, run.model_copy(update={"measures": {}}), spec

    def _lender(self, kind: str, named: str, place: str) -> tuple["_StudyResolver", str]:
        """The study that `<study>.<name>` is borrowed from, which has it of its own."""
        study, _, name = named.partition(".")
        others = {key: one for key, one in self.studies.items() if one is not self}
        if study not in others:
            _refuse(place, named, others)
        lent = others[study]._lent(kind)
        if name not in lent:
            _refuse(place, named, (f"{study}.{key}" for key in lent))
        return others[study], name

    def _lent(self, kind: str) -> list[str]:
        """The sweeps, or the measures, that are not themselves borrowed."""
        if kind == "sweeps":
            return [*self.study.sweeps]
        return [name for name, said in self.study.measures.items() if "borrowed" not in said]

    def _points(self, name: str) -> Iterator[tuple[dict[str, Any], Location]]:
        """Each point of a sweep, and where in the file it stands."""
        sweep = self.study.sweeps[name]
        if sweep.points is not None:
            for number, point in enumerate(sweep.points):
                yield point, ("sweeps", name, "points", number)
        else:
            grid = sweep.grid or {}
            for values in product(*grid.values()):
                yield dict(zip(grid, values, strict=True)), ("sweeps", name, "grid")

    def _run(
        self,
        base: str,
        point: Mapping[str, Any] = NO_CHANGES,
        where: Location = (),
        later: tuple[str, ...] = (),
    ) -> tuple[Run, RunSpec]:
        """The base run with a point's values in place of its own.

        `later` are the runs that start from it, one from another.
        """
        tree: Any = self.document.tree["runs"][base]
        for key, value in point.items():
            tree = _with_value(tree, key.split("."), value)

        def origin(location: Location) -> str:
            key = dotted(location)
            for swept in point:
                if f"{key}.".startswith(f"{swept}."):
                    inside = location[len(swept.split(".")) :]
                    return self.document.origin((*where, swept, *inside))
                if swept.startswith(f"{key}."):
                    return self.document.origin((*where, swept))
            return self.document.origin(("runs", base, *location))

        run = validated(Run, tree, origin)
        if isinstance(run.net, Own):
            _check_own(run.net, origin)
        if run.snapshots is not None:
            _check_layers([run.snapshots], run, origin(("snapshots",)), LINEAR)
        if run.rescaling is not None:
            _check_rescaled(run.rescaling.layer, run, origin(("rescaling", "layer")))
        if run.frozen is not None:
            _check_frozen(run.frozen, run, origin(("frozen",)))
        self._check_changed_measures(run, origin)
        spec = self._run_spec(run, origin)
        if run.start is None:
            return run, spec
        started = self._start(run.start, spec, origin, (*later, base))
        return run, spec.model_copy(update={"start": started})

    def _start(
        self, start: Start, run: RunSpec, origin: Origin, later: tuple[str, ...]
    ) -> StartSpec:
        """The run that another starts from, which has to fit it."""
        place = origin(("start", "run"))
        if start.run not in self.study.runs:
            _refuse(place, start.run, self.study.runs)
        if start.run in later:
            circle = " from ".join([*later[later.index(start.run) :], start.run])
            raise FlatlasError(f"{place} goes in a circle: {circle}. Some run has to be the first.")
        _, first = self._run(start.run, later=later)
        if (first.net, first.input_shape) != (run.net, run.input_shape):
            raise FlatlasError(
                f"{place} is '{start.run}', which has another net: give both the same."
            )
        if first.outputs != run.outputs:
            raise FlatlasError(
                f"{place} is '{start.run}', whose net has {first.outputs} outputs, not "
                f"{run.outputs}: to train on some classes only and keep all outputs, say data.only."
            )
        if not set(run.seeds) <= set(first.seeds):
            raise FlatlasError(
                f"{place} is '{start.run}', which has only {len(first.seeds)} realizations for "
                f"{len(run.seeds)}: give it as many, or this run fewer."
            )
        _check_layers(start.fresh, run, origin(("start", "fresh")))
        return StartSpec(run=first, fresh=start.fresh)

    def _run_spec(self, run: Run, origin: Origin) -> RunSpec:
        count = run.realizations or self.study.realizations
        seeds = tuple(range(count))
        sources = self.plan.settings.sources
        if run.data.source not in sources:
            _refuse(origin(("data", "source")), run.data.source, sources)
        source = sources[run.data.source]
        if isinstance(source, Boolean) != bool(run.data.functions):
            raise FlatlasError(
                f"{origin(('data',))}: a source of kind boolean has no labels but those of "
                "functions, and functions no other domain: say both, or neither."
            )
        if run.data.functions and isinstance(run.net, ModuleSpec):
            raise FlatlasError(
                f"{origin(('data', 'functions'))} are counted of small nets, not of family "
                f"'{run.net.family}': use 'dense' or 'convolutional'."
            )
        samples = _samples(run.data, source, run.net, seeds)
        shape, classes = shape_and_classes(source)
        for key in ("classes", "only", "positive"):
            for number in getattr(run.data, key) or ():
                if number >= classes:
                    _refuse(origin(("data", key)), str(number), map(str, range(classes)))
        if run.data.positive is not None or run.data.functions:
            outputs = 1
        else:
            outputs = len(run.data.classes) if run.data.classes is not None else classes
        settings = run.model_dump(exclude={"data", "start", "realizations", "measures"})
        return RunSpec(**settings, samples=samples, input_shape=shape, outputs=outputs, seeds=seeds)

    def _check_fit(self, name: str, options: Measurement, spec: RunSpec) -> None:
        """Refuse a measure that can't be taken of a run."""
        layer = getattr(options, "layer", None)
        if layer is not None:
            kind = MEASURES[options.resolved()["measure"]].layers
            place = self.document.origin(("measures", name, "layer"))
            if kind is None:
                _check_layers([layer], spec, place, LINEAR)
            else:
                _check_layer(layer, kind, spec, place)
        for key, why in options.misfits(spec):
            raise FlatlasError(f"{self.document.origin(('measures', name, key))} {why}")

    def _measurement(self, options: Measurement, spec: RunSpec) -> str:
        measured = MeasureSpec(options=options.model_dump(), run=spec)
        kernel = sampled_kernel(measured)
        if kernel is not None:
            _register(self.plan.kernels, kernel_id(kernel), kernel)
        second = second_task(measured)
        if second is not None:
            _register(self.plan.samples, samples_id(second), second)
        return _register(self.plan.measurements, measurement_id(measured), measured)

    def _check_changed_measures(self, run: Run, origin: Origin) -> None:
        """What a run says of measures is told wrong whether or not a figure needs it yet."""
        for name, changes in run.measures.items():
            if name not in self.study.measures:
                _refuse(origin(("measures",)), name, self.study.measures)
            if "measure" in changes:
                place = origin(("measures", name, "measure"))
                raise FlatlasError(f"{place} can't change: give the other measure its own name.")
            self._options(name, changes, origin)

    def _options(
        self, name: str, changes: Mapping[str, Any] | None = None, changed: Origin | None = None
    ) -> Measurement:
        """What a study says of a measure, and a run may change, checked by the measure's entry."""
        settings = {**self._settings(name), **(changes or {})}
        here: Location = ("measures", name)
        if "measure" not in settings:
            place = self.document.origin((*here, "measure"))
            hint = self.document.hint((*here, "measure"))
            raise FlatlasError(f"{place} is missing. Allowed: {', '.join(MEASURES)}.{hint}")
        if settings["measure"] not in MEASURES:
            place = self.document.origin((*here, "measure"))
            _refuse(place, str(settings["measure"]), MEASURES)

        def origin(at: Location) -> str:
            by_run = changed is not None and at and at[0] in (changes or {})
            told = changed if changed is not None and by_run else self.document.origin
            return told((*here, *at))

        return validated(MEASURES[settings["measure"]].options, settings, origin)

    def _settings(self, name: str) -> Mapping[str, Any]:
        """What a study says of a measure, over what the study says that it is borrowed from."""
        settings = dict(self.study.measures[name])
        borrowed = settings.pop("borrowed", None)
        if borrowed is None:
            return settings
        place = self.document.origin(("measures", name, "borrowed"))
        lender, lent = self._lender("measures", str(borrowed), place)
        return {**lender.study.measures[lent], **settings}

    def _keep_run(self, spec: RunSpec) -> str:
        if spec.start is not None:
            self._keep_run(spec.start.run)
        samples = spec.samples
        subset = subset_of(samples)
        _register(self.plan.sources, source_id(subset.source), subset.source)
        _register(self.plan.samples, samples_id(subset), subset)
        _register(self.plan.samples, samples_id(samples), samples)
        return _register(self.plan.runs, run_id(spec), spec)


def _register(known: dict[str, Any], identity: str, spec: Spec) -> str:
    """Enter a spec under its id. Two specs of one id are not to be thought of, so think of it."""
    if known.setdefault(identity, spec) != spec:
        raise FlatlasError(f"two different specs have the id {identity}: change either a little.")
    return identity


def _refuse(place: str, given: str, allowed: Iterable[str], why: str = "") -> None:
    known = list(allowed)
    raise FlatlasError(
        f"{place} names {given!r}{why}. "
        f"Allowed: {', '.join(known) or 'none yet'}.{nearest(given, known)}"
    )


def _check_layer(layer: str, kind: LayerKind, run: Training, place: str) -> None:
    """A mistyped layer, or one of the other kind, is told before anything is trained."""
    names = layer_names(run.net)
    if layer in names[kind]:
        return
    if not names[kind]:
        raise FlatlasError(
            f"{place} names {layer!r}, but a net of family '{run.net.family}' has no {kind} "
            "with a name: take this measure of other runs."
        )
    convolved = kind == "dense" and layer in names["convolution"]
    why = ", a convolution, but the exact duality needs a dense layer" if convolved else ""
    _refuse(place, layer, names[kind], why)


def _check_layers(
    named: Iterable[str], run: Training, place: str, kinds: Iterable[LayerKind] = KINDS
) -> None:
    """Layers of one kind or another."""
    names = layer_names(run.net)
    known = [name for kind in kinds for name in names[kind]]
    for layer in named:
        if layer not in known:
            _refuse(place, layer, known)


def _check_own(net: Own, origin: Origin) -> None:
    """Its files are looked for, but not read: that takes torch."""
    where = net.module.partition(":")[0]
    if find(where) is None:
        place, file = origin(("net", "module")), where.replace(".", "/")
        raise FlatlasError(f"{place} is '{net.module}', but {Path.cwd()} has no {file}.py.")
    if net.weights is not None and not Path(net.weights).is_file():
        place = origin(("net", "weights"))
        raise FlatlasError(f"{place} is '{net.weights}', but {Path.cwd()} has no such file.")


def _check_frozen(frozen: tuple[str, ...], run: Training, place: str) -> None:
    """Some layer has to be left."""
    _check_layers(frozen, run, place)
    if all(set(names) <= set(frozen) for names in layer_names(run.net).values()):
        raise FlatlasError(f"{place} names every layer, which leaves none to train: leave one out.")


def _check_rescaled(layer: str, run: Training, place: str) -> None:
    """The last layer has no next one to take back its factor."""
    _check_layer(layer, "dense", run, place)
    *others, last = layer_names(run.net)["dense"]
    if layer == last:
        _refuse(place, layer, others, ", which has no next layer")


def _resolved(point: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """The point's values as the run has them: checked, and of their type (YAML's 1e-3 is text).

    A mapping (an optimizer, say) is told value by value: `optimizer.name`, `optimizer.lr`, ...
    """
    values: dict[str, Any] = {}
    for key in point:
        value: Any = run.model_dump(mode="json")
        for part in key.split("."):
            value = value[part]
        values |= _leaves(key, value)
    return values


def _leaves(key: str, value: Any) -> dict[str, Any]:
    """The values within a value, each by its dotted key."""
    if not isinstance(value, Mapping):
        return {key: value}
    leaves: dict[str, Any] = {}
    for part, inner in value.items():
        leaves |= _leaves(f"{key}.{part}" if key else part, inner)
    return leaves


def _samples(data: Data, source: SourceSpec, net: NetSpec, seeds: tuple[int, ...]) -> SamplesSpec:
    if data.functions:
        assert isinstance(source, Boolean)
        return FunctionsSpec(source=source, net=net, draws=data.functions.draws, count=len(seeds))
    chosen = data.model_dump(exclude={"source", "label_noise", "attack_size", "functions"})
    drawn = seeds if data.split is None else (data.split,)
    subset = SubsetSpec(source=source, seeds=drawn, **chosen)
    if data.label_noise:
        return NoiseSpec(subset=subset, fraction=data.label_noise, seeds=seeds)
    if data.attack_size:
        return AttackSpec(subset=subset, size=data.attack_size, seeds=seeds)
    return subset


def _with_value(tree: Any, keys: list[str], value: Any) -> dict[str, Any]:
    """A copy of the tree with the value at the dotted key."""
    head, *rest = keys
    inner = tree.get(head, {}) if isinstance(tree, Mapping) else {}
    return {**tree, head: _with_value(inner, rest, value) if rest else value}
