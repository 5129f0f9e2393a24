"""What a study file may say. See config/README.md for the same in prose."""

from typing import Annotated, Any

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from flatlas.plan.spec import Spec
from flatlas.plan.training_specs import Training


class Functions(Spec):
    """The functions that random nets express most often, one a realization: P(f) by sampling."""

    draws: PositiveInt


class Data(Spec):
    """The images of a run: a source by its name in config.yaml, and what is drawn from it.

    With `functions` all of the source is trained on, and nothing else is said.
    """

    source: str
    classes: tuple[NonNegativeInt, ...] | None = None
    only: tuple[NonNegativeInt, ...] | None = None
    positive: tuple[NonNegativeInt, ...] | None = None
    per_class: PositiveInt | None = None
    train_size: PositiveInt | None = None
    test_size: PositiveInt | None = None
    split: NonNegativeInt | None = None
    label_noise: float | None = Field(default=None, ge=0, lt=1)
    attack_size: NonNegativeInt | None = None
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
    """The base run with whose solution another begins, and the layers that it draws anew."""

    run: str
    fresh: tuple[str, ...] = ()


class Run(Training):
    """A base run: everything that a sweep may vary.

    `measures` has the options in which the study's measures are different on this run.
    """

    data: Data
    start: Start | None = None
    realizations: PositiveInt | None = None
    measures: dict[str, dict[str, Any]] = Field(default={})


class Sweep(Spec):
    """A base run varied over a grid of dotted keys, or at listed points."""

    run: str
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] | None = None
    points: Annotated[list[dict[str, Any]], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "Sweep":
        if (self.grid is None) == (self.points is None):
            raise ValueError("say exactly one of grid and points")
        return self


class Borrowed(Spec):
    """The very same runs as those of some sweeps of other studies, each `<study>.<sweep>`.

    With `ends` they are the first and the last of each. Where `measures` are listed, no others of a
    figure's are taken of them.
    """

    sweeps: Annotated[tuple[str, ...], Field(min_length=1)]
    ends: bool = False
    measures: Annotated[tuple[str, ...], Field(min_length=1)] | None = None


class Figure(Spec):
    """A figure: the sweeps it draws and the measures it needs on each of their runs.

    A schematic has neither. With `where_it_fits` a measure is left out on runs of which it can't be
    taken. With `costs` the figure is told how long each measurement took.
    """

    title: str
    sweeps: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    where_it_fits: bool = False
    costs: bool = False


class Study(Spec):
    """One study: base runs, sweeps of them, measures on them, and the figures of a paper.

    What is `borrowed` stands beside the sweeps: a figure names either.
    """

    title: str
    paper: str
    realizations: PositiveInt
    runs: dict[str, Run] = Field(default={})
    sweeps: dict[str, Sweep] = Field(default={})
    borrowed: dict[str, Borrowed] = Field(default={})
    measures: dict[str, dict[str, Any]] = Field(default={})
    figures: dict[str, Figure] = Field(default={})

    @model_validator(mode="after")
    def _one_thing_a_name(self) -> "Study":
        for name in self.borrowed:
            if name in self.sweeps:
                raise ValueError(f"'{name}' is a sweep and borrowed: give one another name")
        return self
