"""The base runs of a study at the points of its sweeps: as settings, and as specs."""

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.plan import own_module
from flatlas.plan.data_specs import (
    AttackSpec,
    Boolean,
    FunctionsSpec,
    NoiseSpec,
    SamplesSpec,
    SourceSpec,
    SubsetSpec,
    images_to_train_on,
    shape_and_classes,
    subset_of,
)
from flatlas.plan.documents import Document
from flatlas.plan.families import FAMILIES, NetSpec
from flatlas.plan.families.own import Own
from flatlas.plan.family import ModuleFamily, Shape
from flatlas.plan.fingerprint import closure, find, is_own
from flatlas.plan.measurements.measurement import without_next
from flatlas.plan.mistakes import Origin, refuse, validated
from flatlas.plan.named_layers import LINEAR, check_frozen, check_layer, check_layers
from flatlas.plan.studies import Data, Run, Start, Study
from flatlas.plan.training_specs import RunSpec, StartSpec, given_to
from flatlas.plan.trees import USER, Location, at, dotted, leaves, with_value

# The settings of a base run, as a tree.
NO_CHANGES: dict[str, Any] = {}


class Runs:
    """The runs of a `study`, as declared in its `document`."""

    def __init__(self, study: Study, document: Document, sources: Mapping[str, SourceSpec]) -> None:
        """`sources` are the sources of the configuration, by name."""
        self.study, self.document, self.sources = study, document, sources
        self.own_files: set[str] = set()

    def points(self, sweep: str) -> Iterator[tuple[dict[str, Any], Location]]:
        """Each point of a sweep, and its place in the file."""
        said = self.study.sweeps[sweep]
        if said.points is not None:
            for number, point in enumerate(said.points):
                yield point, ("sweeps", sweep, "points", number)
        else:
            grid = said.grid or {}
            for values in product(*grid.values()):
                yield dict(zip(grid, values, strict=True)), ("sweeps", sweep, "grid")

    def origin(self, base: str, point: dict[str, Any] = NO_CHANGES, where: Location = ()) -> Origin:
        """Gives the origin of each setting of a base run after a point's values replace its own."""

        def origin(location: Location) -> str:
            key = dotted(location)
            # If several keys set the same place, the last one counts.
            for swept in reversed(point):
                if f"{key}.".startswith(f"{swept}."):
                    inside = location[len(swept.split(".")) :]
                    return self.document.origin((*where, swept, *inside))
                if swept.startswith(f"{key}."):
                    return self.document.origin((*where, swept))
            return self.document.origin(("runs", base, *location))

        return origin

    def at(
        self,
        base: str,
        point: dict[str, Any] = NO_CHANGES,
        where: Location = (),
        later: tuple[str, ...] = (),
    ) -> tuple[Run, RunSpec]:
        """A base run with a point's values in place of its own: its settings and its spec.

        `later` are the runs that start from it, directly or through others.
        """
        tree: Any = self.document.tree["runs"][base]
        for key, value in point.items():
            tree = with_value(tree, key.split("."), value)
        origin = self.origin(base, point, where)
        run = validated(Run, tree, origin)
        self.own_files |= _check_net(run, origin)
        spec = self._spec(run, origin)
        if run.start is None:
            return run, spec
        started = self._start(run.start, spec, origin, (*later, base))
        return run, spec.model_copy(update={"start": started})

    def _start(
        self, start: Start, run: RunSpec, origin: Origin, later: tuple[str, ...]
    ) -> StartSpec:
        """The run that another run starts from. The two must fit together."""
        place = origin(("start", "run"))
        if start.run not in self.study.runs:
            refuse(place, start.run, self.study.runs)
        if start.run in later:
            circle = " from ".join([*later[later.index(start.run) :], start.run])
            raise FlatlasError(f"{place} goes in a circle: {circle}. One run must be the first.")
        _, first = self.at(start.run, later=later)
        if (first.net, first.input_shape) != (run.net, run.input_shape):
            raise FlatlasError(
                f"{place} is '{start.run}', which has another net: give both the same net."
            )
        if first.outputs != run.outputs:
            raise FlatlasError(
                f"{place} is '{start.run}', whose net has {first.outputs} outputs, not "
                f"{run.outputs}: to train on some classes only and keep all outputs, set data.only."
            )
        if not set(run.seeds) <= set(first.seeds):
            raise FlatlasError(
                f"{place} is '{start.run}', which has only {len(first.seeds)} realizations for "
                f"{len(run.seeds)}: give it as many, or this run fewer."
            )
        check_layers(start.fresh, run, origin(("start", "fresh")))
        return StartSpec(run=first, fresh=start.fresh)

    def _images_of(self, run: Run) -> str:
        """A sentence on a run's images and where they are set: they may be the mistake."""
        name = run.data.source
        (_, height, width), classes = shape_and_classes(self.sources[name])
        kind = self.sources[name].kind
        return (
            f"Its images are those of {USER}: sources.{name}, of kind {kind}, with {classes} "
            f"classes of {height} x {width} pixels."
        )

    def _spec(self, run: Run, origin: Origin) -> RunSpec:
        """The spec of a run, except where it starts."""
        seeds = tuple(range(run.realizations or self.study.realizations))
        if run.data.source not in self.sources:
            refuse(origin(("data", "source")), run.data.source, self.sources)
        source = self.sources[run.data.source]
        shape, classes = shape_and_classes(source)
        if run.data.positive is not None or run.data.functions:
            outputs = 1
        else:
            outputs = len(run.data.classes) if run.data.classes is not None else classes
        try:
            _check_data(run, source, classes, origin)
            _check_sizes(run.net, shape, outputs, origin)
        except FlatlasError as error:
            raise FlatlasError(f"{error} {self._images_of(run)}") from None
        samples = _samples(run.data, source, run.net, seeds)
        _check_wrong_labels(run.data, images_to_train_on(subset_of(samples)), origin)
        _check_batch(run, images_to_train_on(samples), origin)
        return RunSpec(
            **run.model_dump(exclude={"data", "start", "realizations", "measures"}),
            samples=samples,
            input_shape=shape,
            outputs=outputs,
            seeds=seeds,
        )


def values_at(point: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """The point's values from the validated run, with their types (YAML's 1e-3 is text).

    A mapping, such as an optimizer, is listed value by value: `optimizer.name`, `optimizer.lr`, ...
    """
    tree = run.model_dump(mode="json")
    values: dict[Location, Any] = {}
    for key in point:
        place = tuple(key.split("."))
        values |= leaves(at(tree, place), place)
    return {dotted(place): value for place, value in values.items()}


def _check_net(run: Run, origin: Origin) -> set[str]:
    """Check a net's layers and files. Returns the files of a user's own net."""
    files = _check_weights(run.net, origin)
    if isinstance(run.net, Own):
        files |= _check_own(run.net, origin)
    if run.snapshots is not None:
        check_layers([run.snapshots], run, origin(("snapshots",)), LINEAR)
    if run.rescaling is not None:
        check_layer(run.rescaling.layer, "dense", run, origin(("rescaling", "layer")))
        for key, why in without_next(run.rescaling.layer, run):
            raise FlatlasError(f"{origin(('rescaling', key))} {why}")
    if run.frozen is not None:
        check_frozen(run.frozen, run, origin(("frozen",)))
    return files


def _check_sizes(net: NetSpec, shape: Shape, outputs: int, origin: Origin) -> None:
    """Refuse kernels, strides and pools that reduce an image to nothing."""
    for number, size in enumerate(net.layer_sizes(shape, outputs), start=1):
        if not (size.weights and size.places):
            raise FlatlasError(
                f"{origin(('net',))} leaves nothing of an image of {shape[1]} x {shape[2]} in "
                f"layer {number}: use smaller kernels, strides or pools, or fewer layers."
            )


def _check_batch(run: Run, images: int, origin: Origin) -> None:
    """Refuse minibatches that need more images than a realization has."""
    learners = run.learners.count if run.learners else 1
    if learners > images:
        raise FlatlasError(
            f"{origin(('learners', 'count'))} is {learners}, but a realization has {images:,} "
            "training images. Allowed: at most as many learners."
        )
    if run.batch != "full" and run.batch * learners > images:
        each = f" for each of {learners} learners" if run.learners else ""
        raise FlatlasError(
            f"{origin(('batch',))} is {run.batch}{each}, but a realization has "
            f"{images:,} training images. Allowed: at most {images // learners:,}, or full."
        )


def _check_weights(net: NetSpec, origin: Origin) -> set[str]:
    """The file of given weights. It must exist, but is not read."""
    weights = given_to(net)
    if weights is None:
        return set()
    if not Path(weights).is_file():
        place = origin(("net", "weights"))
        raise FlatlasError(f"{place} is '{weights}', but {Path.cwd()} has no such file.")
    return {weights}


def _check_own(net: Own, origin: Origin) -> set[str]:
    """The modules of a user's own net, which are read as text."""
    where = net.module.partition(":")[0]
    module = find(where)
    if module is None:
        place, file = origin(("net", "module")), where.replace(".", "/")
        raise FlatlasError(f"{place} is '{net.module}', but {Path.cwd()} has no {file}.py.")
    place = f"{origin(('net', 'module'))} is '{net.module}'"
    try:
        imported = [find(one) for one in closure([module]) if isinstance(one, str)]
    except FlatlasError as error:
        raise FlatlasError(f"{place}, but not valid Python: {error}") from error
    what = net.module.partition(":")[2]
    own_module.check(module, what, net.arguments, place, origin(("net", "arguments")))
    here = Path.cwd()
    own = {module, *(file for file in imported if file and is_own(file))}
    return {str(file.relative_to(here)) for file in own}


def _check_data(run: Run, source: SourceSpec, classes: int, origin: Origin) -> None:
    """Refuse data that the source does not have."""
    if isinstance(source, Boolean) != bool(run.data.functions):
        raise FlatlasError(
            f"{origin(('data',))}: a source of kind boolean has no labels except those of "
            "functions, and functions need such a source: set both, or neither."
        )
    if run.data.functions and isinstance(run.net, ModuleFamily):
        small = [name for name, one in FAMILIES.items() if not issubclass(one, ModuleFamily)]
        raise FlatlasError(
            f"{origin(('data', 'functions'))} are counted only for small nets, not for family "
            f"'{run.net.family}'. Allowed: {', '.join(small)}."
        )
    _check_classes(run.data, classes, origin)


def _check_classes(data: Data, classes: int, origin: Origin) -> None:
    """Refuse classes that the source does not have, and a task with only one label."""
    if classes < 2:
        raise FlatlasError(
            f"{origin(('data', 'source'))} has one class, but a task needs two: give the source "
            "a folder for each of two classes or more."
        )
    there = range(classes)
    picked = there if data.classes is None else data.classes
    for key, allowed in (("classes", there), ("only", picked), ("positive", picked)):
        for number in getattr(data, key) or ():
            if number not in allowed:
                refuse(origin(("data", key)), str(number), map(str, allowed))
    if data.positive is None:
        return
    drawn, place = set(data.only or picked), origin(("data", "positive"))
    of_only = " of data.only" if data.only else ""
    if drawn <= set(data.positive):
        raise FlatlasError(
            f"{place} names all classes{of_only}, so that every label is 1: leave out some."
        )
    if drawn.isdisjoint(data.positive):
        raise FlatlasError(
            f"{place} names no class{of_only}, so that every label is 0: name one of them."
        )


def _check_wrong_labels(data: Data, images: int, origin: Origin) -> None:
    """Refuse label noise of none or all of the clean `images`, and wrong labels of one class."""
    noise, attack = data.label_noise or 0.0, data.attack_size or 0
    if (noise or attack) and data.positive is None and data.only and len(data.only) == 1:
        key = "label_noise" if noise else "attack_size"
        raise FlatlasError(
            f"{origin(('data', 'only'))} is [{data.only[0]}], but wrong labels need two classes: "
            f"name another one, or leave out {key}."
        )
    wrong = round(noise * images)
    # With `at_most`, the source may have fewer images.
    if noise and not data.at_most and wrong in (0, images):
        raise FlatlasError(
            f"{origin(('data', 'label_noise'))} is {noise:g}, which makes {wrong} of {images} "
            "labels wrong: choose a fraction that leaves at least one right and makes at least "
            "one wrong."
        )


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
