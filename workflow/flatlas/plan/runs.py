"""The base runs of a study at the points of its sweeps: as settings, and as specs."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from flatlas.errors import FlatlasError
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
from flatlas.plan.documents import Document
from flatlas.plan.families import NetSpec
from flatlas.plan.groups import with_seeds
from flatlas.plan.mistakes import Origin, listed, refuse, shown, validated
from flatlas.plan.named_layers import check_layers
from flatlas.plan.run_checks import (
    check_batch,
    check_data,
    check_net,
    check_normalized,
    check_sizes,
    check_wrong_labels,
)
from flatlas.plan.source_sizes import images_to_train_on, too_few_images
from flatlas.plan.studies import Data, Run, Start, Study
from flatlas.plan.training_specs import RunSpec, StartSpec
from flatlas.plan.trees import CHOOSING, USER, Location, by_key, dotted, is_within, with_value

# A point that changes nothing: the base run itself.
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
        """The origin of each setting of a base run in which a point's values replace its own."""

        def origin(location: Location) -> str:
            key = dotted(location)
            for swept in reversed(_outer_first(point)):
                if is_within(key, swept):
                    inside = location[len(swept.split(".")) :]
                    return self.document.origin((*where, swept, *inside))
                if is_within(swept, key):
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
        for key in _outer_first(point):
            tree = with_value(tree, key.split("."), point[key])
            self._refuse_inner(point, key, where)
        origin = self.origin(base, point, where)
        try:
            run = validated(Run, tree, origin)
            self.own_files |= check_net(run, origin)
            spec = self._spec(run, origin)
        except FlatlasError as error:
            more = self._with_point(base, point, where, str(error))
            raise FlatlasError(f"{error}{more}") from None
        if run.start is None:
            return run, spec
        started = self._start(run.start, spec, self.group_sizes(run), origin, (*later, base))
        return run, spec.model_copy(update={"start": started})

    def _with_point(self, base: str, point: dict[str, Any], where: Location, error: str) -> str:
        """A sentence on the point, for an error of the base run that only the point brings out."""
        places = [self.document.origin((*where, key)) for key in point]
        if not point or any(place in error for place in places) or error == self._mistake(base):
            return ""
        values = ", ".join(f"{key}: {shown(value)}" for key, value in point.items())
        chosen = [key.rpartition(".")[0] for key in point if _chooses(key)]
        whole = "".join(
            f" Other options of {key} stay: sweep {key} as a whole."
            for key in chosen
            if f".{key}." in error
        )
        return f"\n{self.document.origin(where)} sets {values} in this run.{whole}"

    def _mistake(self, base: str) -> str:
        """The error of a base run as it is; nothing if there is none."""
        try:
            self.at(base)
        except FlatlasError as error:
            return str(error)
        return ""

    def _refuse_inner(self, point: dict[str, Any], key: str, where: Location) -> None:
        """Refuse a value that another key of the point would replace by a mapping."""
        inner = [one for one in point if one.startswith(f"{key}.")]
        if inner and not isinstance(point[key], Mapping):
            raise FlatlasError(
                f"{self.document.origin((*where, key))} is {shown(point[key])}. Allowed: a mapping "
                f"of keys to values, since {inner[0]} is set in it."
            )

    def _start(
        self,
        start: Start,
        run: RunSpec,
        sizes: tuple[int, ...],
        origin: Origin,
        later: tuple[str, ...],
    ) -> StartSpec:
        """The run that another run starts from. The two must fit together."""
        place = origin(("start", "run"))
        if start.run not in self.study.runs:
            refuse(place, start.run, self.study.runs)
        if start.run in later:
            circle = " from ".join([*later[later.index(start.run) :], start.run])
            raise FlatlasError(f"{place} goes in a circle: {circle}. One run must be the first.")
        settings, first = self.at(start.run, later=later)
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
        groups = self.group_sizes(settings)
        if len(groups) > 1 or len(sizes) > 1:
            if groups[: len(sizes)] != sizes:
                raise FlatlasError(
                    f"{place} is '{start.run}', whose groups have {listed([*map(str, groups)])} "
                    f"realizations, not {listed([*map(str, sizes)])}: give both the same groups."
                )
            first = with_seeds(first, run.seeds)
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

    def group_sizes(self, run: Run) -> tuple[int, ...]:
        """The number of realizations in each of the run's groups."""
        return run.realizations or self.study.realizations

    def _spec(self, run: Run, origin: Origin) -> RunSpec:
        """The spec of a run with all its realizations, except where it starts."""
        sizes = self.group_sizes(run)
        if run.data.functions and len(sizes) > 1:
            raise FlatlasError(
                f"{origin(('data', 'functions'))} are drawn together, not in the groups "
                f"{list(sizes)}: give this run a number of 'realizations' of its own."
            )
        seeds = tuple(range(sum(sizes)))
        if run.data.source not in self.sources:
            refuse(origin(("data", "source")), run.data.source, self.sources)
        source = self.sources[run.data.source]
        shape, classes = shape_and_classes(source)
        if run.data.positive is not None or run.data.functions:
            outputs = 1
        else:
            outputs = len(run.data.classes) if run.data.classes is not None else classes
        try:
            check_data(run, source, classes, origin)
            check_sizes(run.net, shape, outputs, origin)
        except FlatlasError as error:
            raise FlatlasError(f"{error} {self._images_of(run)}") from None
        samples = _samples(run.data, source, run.net, seeds)
        for key, why in too_few_images(samples):
            raise FlatlasError(f"{origin(('data', key))} {why}")
        check_wrong_labels(run.data, source, images_to_train_on(subset_of(samples)), origin)
        check_batch(run, images_to_train_on(samples), origin)
        spec = RunSpec(
            **run.model_dump(exclude={"data", "start", "realizations", "measures"}),
            samples=samples,
            input_shape=shape,
            outputs=outputs,
            seeds=seeds,
        )
        check_normalized(spec, origin)
        return spec


def _chooses(key: str) -> bool:
    """Whether a dotted key chooses a kind of net, init, schedule or optimizer."""
    mapping, _, last = key.rpartition(".")
    return CHOOSING.get(mapping.rpartition(".")[2], ("",))[0] == last


def _outer_first(point: Iterable[str]) -> list[str]:
    """The keys of a point, such that `optimizer.lr` is set in the `optimizer` of the same point."""
    return sorted(point, key=lambda key: key.count("."))


def values_at(keys: Iterable[str], run: Run) -> dict[str, Any]:
    """The values of these keys in a validated run, with their types (YAML's 1e-3 is text).

    A mapping, such as an optimizer, is listed value by value: `optimizer.name`, `optimizer.lr`, ...
    Keys that the run lacks are left out.
    """
    values = by_key(run.model_dump(mode="json"))
    return {name: value for key in keys for name, value in values.items() if is_within(name, key)}


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
