"""The keys of a study file. config/README.md lists them in prose."""

from typing import Annotated, Any

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from flatlas.plan.spec import Distinct, Spec
from flatlas.plan.training_specs import Training

Numbers = tuple[NonNegativeInt, ...]
Names = Annotated[tuple[str, ...], Distinct]


class Functions(Spec):
    """The functions that random nets express most often, one for each realization."""

    draws: PositiveInt
    """How many random nets to draw from `net.init`."""


class Data(Spec):
    """The images of a run: a source by its name in config.yaml, and what to draw from it.

    With `functions` the run trains on all of the source, and no other key is set.
    """

    source: str
    """A name from `sources`."""
    classes: Annotated[Numbers, Field(min_length=2), Distinct] | None = None
    """The classes to use, by number, in this order; all by default."""
    only: Annotated[Numbers, Field(min_length=1), Distinct] | None = None
    """Draw only images of these classes; labels and outputs stay those of all classes.

    So the run learns one task of a net that knows all classes.
    """
    positive: Annotated[Numbers, Field(min_length=1), Distinct] | None = None
    """Make the task binary: label 1 for these classes, 0 for the others."""
    per_class: PositiveInt | None = None
    """Training images of each class (or set `train_size`)."""
    train_size: PositiveInt | None = None
    """Number of training images."""
    test_size: PositiveInt | None = None
    """Number of test images, drawn at random."""
    split: NonNegativeInt | None = None
    """A seed for one draw that all realizations share; by default each draws its own."""
    label_noise: float | None = Field(default=None, ge=0, lt=1)
    """Fraction of the training labels to replace by a wrong one."""
    attack_size: NonNegativeInt | None = None
    """Further training images, all with wrong labels."""
    functions: Functions | None = None

    @model_validator(mode="after")
    def _one_size(self) -> "Data":
        if self.functions:
            drawn = self.model_dump(exclude={"source", "functions"}, exclude_none=True)
            if drawn:
                raise ValueError(f"functions exclude {', '.join(drawn)}: all inputs are learnt")
            return self
        if self.test_size is None:
            raise ValueError("say test_size")
        if (self.per_class is None) == (self.train_size is None):
            raise ValueError("say exactly one of per_class and train_size")
        if self.label_noise and self.attack_size:
            raise ValueError("label_noise and attack_size exclude each other")
        return self


class Start(Spec):
    """The base run at whose solution this run begins, and the layers to initialize again."""

    run: str
    """A base run with the same net, outputs and number of realizations."""
    fresh: tuple[str, ...] = ()
    """Layers to initialize again."""


class Run(Training):
    """A base run: everything that a sweep may vary.

    `measures` has options of the study's measures that differ for this run.
    """

    data: Data
    start: Start | None = None
    realizations: PositiveInt | None = None
    """The number for this run, instead of the study's."""
    measures: dict[str, dict[str, Any]] = Field(default={})
    """As in `{sharpness: {box: 1.0e-5}}`."""


class Sweep(Spec):
    """A base run varied over a grid of dotted keys, or at listed points."""

    run: str
    """The base run that is varied."""
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] | None = None
    """Dotted keys of the run, each with a list: every combination is a run."""
    points: Annotated[list[dict[str, Any]], Field(min_length=1)] | None = None
    """The combinations one by one."""

    @model_validator(mode="after")
    def _one_way(self) -> "Sweep":
        if (self.grid is None) == (self.points is None):
            raise ValueError("say exactly one of grid and points")
        return self


class Borrowed(Spec):
    """The same runs as in sweeps of other studies, each `<study>.<sweep>`.

    With `ends` only the first and the last run of each sweep. If `measures` are listed, only these
    of a figure's measures are taken of the borrowed runs.
    """

    sweeps: Annotated[Names, Field(min_length=1)]
    """As in `[prior.sgd, prior.adam]`."""
    ends: bool = False
    measures: Annotated[Names, Field(min_length=1)] | None = None


class Figure(Spec):
    """A figure: the sweeps it draws and the measures it needs on each of their runs.

    A schematic has neither. With `where_it_fits` a measure is left out on runs that it does not
    apply to. With `costs` the figure gets the seconds of each measurement.
    """

    title: str
    """The title."""
    module: str | None = None
    """The module that draws it; by default the one with the figure's name."""
    sweeps: Names = ()
    """Sweeps to draw."""
    measures: Names = ()
    """Measures to take of each of their runs."""
    where_it_fits: bool = False
    """Leave a measure out on runs that it does not apply to; otherwise that is an error."""
    costs: bool = False
    """Give the figure the seconds of each measurement."""


class Study(Spec):
    """One study: base runs, sweeps of them, measures on them, and the figures of a paper.

    A figure names sweeps and `borrowed` entries alike.
    """

    title: str
    """Shown in the report."""
    paper: str
    """What to cite."""
    realizations: PositiveInt
    """Seeds 0, 1, …: each has its own subset, weights and shuffling."""
    runs: dict[str, Run] = Field(default={})
    """Base runs, by name."""
    sweeps: dict[str, Sweep] = Field(default={})
    """Base runs varied, by name."""
    borrowed: dict[str, Borrowed] = Field(default={})
    """Sweeps of other studies, by name."""
    measures: dict[str, dict[str, Any]] = Field(default={})
    """Measures with their options, by name."""
    figures: dict[str, Figure] = Field(default={})
    """The figures, by name."""

    @model_validator(mode="after")
    def _one_thing_a_name(self) -> "Study":
        for name in self.borrowed:
            if name in self.sweeps:
                raise ValueError(f"'{name}' is a sweep and borrowed: give one another name")
        return self
