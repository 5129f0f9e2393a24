"""A study as its files declare it: the runs of its sweeps and the options of its measures."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from flatlas.errors import FlatlasError
from flatlas.plan.documents import Document
from flatlas.plan.groups import groups_of
from flatlas.plan.ids import run_id
from flatlas.plan.measure_specs import MEASURES
from flatlas.plan.measurements.measurement import Measurement
from flatlas.plan.mistakes import Origin, refuse, validated
from flatlas.plan.paths import OF_SETTING
from flatlas.plan.plan import Plan
from flatlas.plan.points import FULL_BATCH
from flatlas.plan.runs import NO_CHANGES, Runs, values_at
from flatlas.plan.source_sizes import as_drawn
from flatlas.plan.studies import Run, Study
from flatlas.plan.training_specs import RunSpec
from flatlas.plan.trees import Location, is_within

# Planning one run or measurement of a figure takes as long as listing ONE_RESULT seeds and moments.
ONE_RESULT, MOST_WORKED_OUT = 200, 4_000_000


class SweptRun(NamedTuple):
    """A run at a point of a sweep: its settings, its specs, and where each setting is made.

    `point` has the run's value of each key that any point of the sweep names. There, a full batch
    is its number of images, with a mark. `groups` has a spec for each group of realizations.
    """

    point: dict[str, Any]
    run: Run
    groups: tuple[RunSpec, ...]
    origin: Origin


class DeclaredStudy:
    """One study. It may borrow from others."""

    def __init__(
        self,
        plan: Plan,
        name: str,
        document: Document,
        studies: Mapping[str, "DeclaredStudy"],
        own: bool = False,
    ) -> None:
        """A study of `plan` that may borrow from `studies`; `own` says that it is a user's."""
        self.plan, self.name, self.document, self.studies = plan, name, document, studies
        self.own, self.lends = own, False
        self.study = document.validated(Study)
        self.runs = Runs(self.study, document, plan.settings.sources)

    @property
    def borrows(self) -> bool:
        """Whether the study borrows from another."""
        measures = self.study.measures.values()
        return bool(self.study.borrowed) or any("borrowed" in settings for settings in measures)

    def check(self) -> None:
        """Report a mistake in a measure or a sweep even if no figure needs it yet."""
        for name in self.study.measures:
            self.options(name)
        for base, run in self.study.runs.items():
            self._check_changed_measures(run, self.runs.origin(base))
        for name, borrowed in self.study.borrowed.items():
            for measure in borrowed.measures or ():
                if measure not in self.study.measures:
                    place = self.document.origin(("borrowed", name, "measures"))
                    refuse(place, measure, self.study.measures)
        for sweep in (*self.study.sweeps, *self.study.borrowed):
            self._check_distinct(sweep)

    def _check_distinct(self, sweep: str) -> None:
        runs: set[str] = set()
        for one in self.runs_of(sweep):
            ids = [run_id(_numbered(group)) for group in one.groups]
            if not runs.isdisjoint(ids):
                said = dict(one.point)
                if said.pop(FULL_BATCH, False):
                    said["batch"] = "full"
                values = ", ".join(f"{key}: {value}" for key, value in said.items())
                # The options of measures are no part of a run.
                measured = any(is_within(key, "measures") for key in one.point)
                do = "give each option a measure of its own" if measured else "remove one of them"
                raise FlatlasError(
                    f"{self.place(sweep)} has two points that are the same run, the second with "
                    f"{values or 'no changes'}: {do}."
                )
            runs.update(ids)

    def place(self, sweep: str) -> str:
        """Where a sweep is declared or borrowed."""
        kind = "borrowed" if sweep in self.study.borrowed else "sweeps"
        return self.document.origin((kind, sweep))

    def runs_of(self, sweep: str) -> Iterator[SweptRun]:
        """The runs of a sweep, the study's own or borrowed."""
        if sweep in self.study.borrowed:
            yield from self._borrowed_runs(sweep)
            return
        base = self.study.sweeps[sweep].run
        if base not in self.study.runs:
            refuse(self.document.origin(("sweeps", sweep, "run")), base, self.study.runs)
        points = [*self.runs.points(sweep)]
        varied = list(dict.fromkeys(key for point, _ in points for key in point))
        for point, where in points:
            run, spec = self.runs.at(base, point, where)
            origin = self.runs.origin(base, point, where)
            self._check_changed_measures(run, origin)
            groups = tuple(groups_of(spec, self.runs.group_sizes(run)))
            for group in groups:
                self.count(group, sweep)
            yield SweptRun(_point(varied, run, groups[0]), run, groups, origin)

    def _borrowed_runs(self, name: str) -> Iterator[SweptRun]:
        """Runs of other studies, each with its sweep `of` and the values that any sweep varies.

        A run's changes to measures are left out: they belong to the measures of its own study.
        """
        borrowed = self.study.borrowed[name]
        found: list[tuple[str, SweptRun]] = []
        for of in borrowed.sweeps:
            place = self.document.origin(("borrowed", name, "sweeps"))
            lender, sweep = self.lender("sweeps", of, place)
            runs = [(of, one) for one in lender.runs_of(sweep)]
            found += runs[:1] + runs[1:][-1:] if borrowed.ends else runs
        varied = list(dict.fromkeys(key for _, one in found for key in one.point))
        for of, one in found:
            point = {"of": of} | _point(varied, one.run, one.groups[0])
            yield one._replace(point=point, run=one.run.model_copy(update={"measures": {}}))

    def count(self, spec: RunSpec, sweep: str) -> None:
        """Refuse a plan that would take all memory, or minutes to make."""
        moments = len(spec.checkpoints) + len(spec.overtraining)
        self.plan.extent += ONE_RESULT + len(spec.seeds) + moments
        if self.plan.extent > MOST_WORKED_OUT:
            raise FlatlasError(
                f"{self.place(sweep)} makes the plan too large; a run of it has "
                f"{len(spec.seeds):,} realizations and {moments:,} checkpoints. "
                f"Allowed: {MOST_WORKED_OUT // ONE_RESULT:,} runs and measurements in all figures, "
                "or fewer with many realizations and checkpoints. List fewer of any of them."
            )

    def lender(self, kind: str, named: str, place: str) -> tuple["DeclaredStudy", str]:
        """The study that `<study>.<name>` is borrowed from. It must define the entry itself."""
        study, _, name = named.partition(".")
        others = {key: one for key, one in self.studies.items() if one is not self}
        if study not in others:
            refuse(place, named, others)
        lent = others[study]._lent(kind)
        if name not in lent:
            refuse(place, named, (f"{study}.{key}" for key in lent))
        others[study].lends |= kind != "figures"
        return others[study], name

    def _lent(self, kind: str) -> list[str]:
        """The sweeps, measures or figures that are not themselves borrowed.

        A schematic and the pages of a user's networks can't be drawn of others.
        """
        if kind == "sweeps":
            return [*self.study.sweeps]
        if kind == "figures":
            if self.name in OF_SETTING:
                return []
            figures = self.study.figures.items()
            return [name for name, one in figures if one.sweeps and one.borrowed is None]
        return [name for name, said in self.study.measures.items() if "borrowed" not in said]

    def options(
        self, name: str, changes: Mapping[str, Any] = NO_CHANGES, changed_at: Origin | None = None
    ) -> Measurement:
        """The options of a measure, checked by the measure's class.

        They are the study's, with the `changes` that a run makes at `changed_at`.
        """
        settings = {**self._settings(name), **changes}
        here: Location = ("measures", name, "measure")
        if "measure" not in settings:
            place, hint = self.document.origin(here), self.document.hint(here)
            raise FlatlasError(f"{place} is missing. Allowed: {', '.join(MEASURES)}.{hint}")
        if str(settings["measure"]) not in MEASURES:
            refuse(self.document.origin(here), str(settings["measure"]), MEASURES)
        origin = self.origin_of_options(name, changes, changed_at or self.document.origin)
        return validated(MEASURES[settings["measure"]], settings, origin)

    def origin_of_options(
        self, name: str, changes: Mapping[str, Any], changed_at: Origin
    ) -> Origin:
        """Where each option of a measure is set: in the run that changes it, or in the study."""

        def origin(option: Location) -> str:
            says = changed_at if option and option[0] in changes else self.document.origin
            return says(("measures", name, *option))

        return origin

    def _settings(self, name: str) -> Mapping[str, Any]:
        """A study's settings of a measure, over those of the study that it is borrowed from."""
        settings = dict(self.study.measures[name])
        borrowed = settings.pop("borrowed", None)
        if borrowed is None:
            return settings
        place = self.document.origin(("measures", name, "borrowed"))
        lender, lent = self.lender("measures", str(borrowed), place)
        return {**lender.study.measures[lent], **settings}

    def _check_changed_measures(self, run: Run, origin: Origin) -> None:
        """Report mistakes in a run's changes to measures, too."""
        for name, changes in run.measures.items():
            if name not in self.study.measures:
                refuse(origin(("measures",)), name, self.study.measures)
            if "measure" in changes:
                place = origin(("measures", name, "measure"))
                raise FlatlasError(f"{place} can't change: give the other measure its own name.")
            self.options(name, changes, origin)


def _numbered(spec: RunSpec) -> RunSpec:
    """The same training with the numbers of images that it gets, in place of `full` or more."""
    numbers = {"batch": spec.minibatch, "samples": as_drawn(spec.samples)}
    return spec.model_copy(update=numbers)


def _point(keys: Iterable[str], run: Run, spec: RunSpec) -> dict[str, Any]:
    values = values_at(keys, run)
    if values.get("batch") == "full":
        values |= {"batch": spec.minibatch, FULL_BATCH: True}
    return values
