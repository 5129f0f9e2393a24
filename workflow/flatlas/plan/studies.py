"""The keys of a study file. config/README.md lists them."""

from math import prod
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from flatlas.plan.bounds import (
    MOST_CLASSES,
    MOST_LISTED,
    BelowOne,
    Class,
    Images,
    Name,
    Realizations,
    Seed,
)
from flatlas.plan.spec import Distinct, InOrder, Spec, Switch
from flatlas.plan.training_specs import LayerNames, Training

Classes = Annotated[tuple[Class, ...], Field(max_length=MOST_CLASSES), Distinct]
Names = Annotated[tuple[str, ...], Field(max_length=MOST_LISTED), Distinct]


class Functions(Spec):
    """Learn the functions that random nets express most often, one for each realization.

    The run trains on the whole source; no other key of `data` may be set.
    """

    draws: Annotated[int, Field(gt=0, le=10**12)]
    """Number of random nets, drawn from `net.init`."""


class Data(Spec):
    """The images of a run: a source by its name in config.yaml, and what to draw from it."""

    source: str
    """A name from `sources`."""
    classes: Annotated[Classes, Field(min_length=2)] | None = None
    """The classes to use, in this order. Default: all."""
    only: Annotated[Classes, Field(min_length=1), InOrder] | None = None
    """Draw only images of these classes; labels and outputs stay those of all classes."""
    positive: Annotated[Classes, Field(min_length=1), InOrder] | None = None
    """Binary task: label 1 for these classes, 0 for the others."""
    per_class: Images | None = None
    """Training images of each class. Set this or `train_size`."""
    train_size: Images | None = None
    """Training images."""
    test_size: Images | None = None
    """Test images, drawn at random. Needed unless `functions` is set."""
    at_most: Switch = None
    """`true`: if the source has fewer images than `train_size` or `test_size`, take all."""
    split: Seed | None = None
    """Seed of one draw for all realizations. Default: each draws its own."""
    label_noise: BelowOne = 0.0
    """Fraction of the training labels to make wrong. Excludes `attack_size`."""
    attack_size: int = Field(default=0, ge=0, le=10**9)
    """Additional training images, all with wrong labels."""
    functions: Functions | None = None

    @field_validator("label_noise", "attack_size", mode="before")
    @classmethod
    def _none(cls, wrong: Any) -> Any:
        """`null` takes back what a preset has set."""
        return 0 if wrong is None else wrong

    @model_validator(mode="after")
    def _one_size(self) -> "Data":
        if self.functions:
            drawn = self.model_dump(exclude={"source", "functions"}, exclude_defaults=True)
            if drawn:
                raise ValueError(f"functions exclude {', '.join(drawn)}: all inputs are learnt")
            return self
        if self.test_size is None:
            raise ValueError("set test_size")
        if (self.per_class is None) == (self.train_size is None):
            raise ValueError("set exactly one of per_class and train_size")
        if self.at_most and self.per_class:
            raise ValueError("at_most limits train_size: set it in place of per_class")
        if self.label_noise and self.attack_size:
            raise ValueError("label_noise and attack_size exclude each other")
        return self


class Start(Spec):
    """Begin at the solution of another base run."""

    run: str
    """Its name. Net and outputs must be the same, and it must have these realizations."""
    fresh: LayerNames = ()
    """Layers to initialize again."""


class Run(Training):
    """A base run: everything that a sweep may vary."""

    data: Data
    start: Start | None = None
    realizations: Realizations | None = None
    """Number of seeds, or a list of groups of them, in place of the study's."""
    measures: dict[str, dict[str, Any]] = Field(default={})
    """Options that differ for this run: `{sharpness: {box: 1.0e-5}}`."""


class Sweep(Spec):
    """A base run varied over a grid of dotted keys, or at listed points."""

    run: str
    """The base run to vary."""
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] | None = None
    """Dotted keys of the run, each with a list of values: every combination is a run."""
    points: Annotated[list[dict[str, Any]], Field(min_length=1)] | None = None
    """The combinations one by one. Set this or `grid`."""

    @model_validator(mode="after")
    def _one_way(self) -> "Sweep":
        if (self.grid is None) == (self.points is None):
            raise ValueError(
                "set exactly one of grid and points; null takes back the other, as in grid: null"
            )
        if self.count > MOST_LISTED:
            raise ValueError(
                f"{self.count:,} combinations are more than the {MOST_LISTED:,} that a plan can "
                "name: list fewer values, or make several sweeps"
            )
        return self

    @property
    def count(self) -> int:
        """The number of its runs."""
        return prod(map(len, self.grid.values())) if self.grid else len(self.points or ())

    @property
    def varied(self) -> list[str]:
        """The keys that differ between its runs, as its file names them."""
        if self.points is None:
            return [key for key, values in (self.grid or {}).items() if len(values) > 1]
        first, *others = self.points
        keys = dict.fromkeys(key for point in self.points for key in point)
        # A key that only some points have is at the base run's value in the others.
        return [key for key in keys if any(one.get(key) != first.get(key) for one in others)]

    @property
    def axis(self) -> str | None:
        """The first key whose value differs in every run, if there is one."""
        if self.points is None:
            return self.varied[0] if len(self.varied) == 1 else None
        for key in self.varied:
            values = [point.get(key) for point in self.points]
            if all(values.count(value) == 1 for value in values):
                return key
        return None


class Borrowed(Spec):
    """The same runs as in sweeps of other studies."""

    sweeps: Annotated[Names, Field(min_length=1)]
    """Each `<study>.<sweep>`."""
    ends: bool = False
    """`true`: only the first and the last run of each sweep."""
    measures: Annotated[Names, Field(min_length=1)] | None = None
    """The figure's measures to take of the borrowed runs. Default: all."""


class Figure(Spec):
    """A figure: the sweeps it draws and the measures it needs on each of their runs.

    A schematic has neither.
    """

    title: str
    """Its title on pages."""
    module: Name | None = None
    """The module that draws it. Default: the figure's name."""
    borrowed: str | None = None
    """Draw it as this figure of another study (`<study>.<figure>`), without the claims."""
    sweeps: Names = ()
    """Sweeps and borrowed runs to draw."""
    measures: Names = ()
    """Measures to take of each run."""
    fixed: bool = False
    """`true`: its module draws only sweeps with these names."""
    axes: Literal["drawn", "judged"] | None = None
    """`drawn`: for the drawing, each run of a sweep needs a different value on the sweep's axis.

    `judged`: only the claims need that. A figure that borrows this one has no claims, so its runs
    may share values.
    """
    where_it_fits: bool = False
    """`true`: skip a measure on runs to which it does not apply. `false`: that is an error.

    An option that you change in a shipped study must fit one of the figure's runs in either case.
    """
    costs: bool = False
    """`true`: the figure gets the seconds of each measurement."""
    claims: bool = True
    """`false`: its module has no function `claims`."""

    @model_validator(mode="after")
    def _borrowed_as_a_whole(self) -> "Figure":
        if self.borrowed and (self.module or self.fixed or self.axes):
            raise ValueError("a borrowed figure has its own module, fixed and axes: set none here")
        if self.borrowed and not self.sweeps:
            raise ValueError("borrowed needs sweeps: the runs to draw")
        return self


class Study(Spec):
    """One study: base runs, sweeps of them, measures on them, and the figures of a paper."""

    title: str
    """Shown in the report."""
    paper: str = ""
    """What to cite."""
    realizations: Realizations
    """Number of seeds 0, 1, …; each has its own subset, weights and shuffling.

    A list has them in groups with jobs of their own: after `20`, `[20, 10]` trains ten more.
    """
    runs: dict[Name, Run] = Field(default={})
    """Base runs."""
    sweeps: dict[Name, Sweep] = Field(default={})
    """Base runs varied."""
    borrowed: dict[Name, Borrowed] = Field(default={})
    """Sweeps of other studies."""
    measures: dict[Name, dict[str, Any]] = Field(default={})
    """Measures with their options."""
    figures: dict[Name, Figure] = Field(default={})
    """Figures."""

    @field_validator("borrowed")
    @classmethod
    def _one_thing_a_name(
        cls, borrowed: dict[str, Borrowed], others: ValidationInfo
    ) -> dict[str, Borrowed]:
        for name in borrowed:
            if name in others.data.get("sweeps", {}):
                raise ValueError(f"'{name}' is a sweep and borrowed: give one another name")
        return borrowed
