"""What a study file may say. See config/README.md for the same in prose."""

from typing import Annotated, Any

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from flatlas.plan.spec import Distinct, Spec
from flatlas.plan.training_specs import Training

Numbers = tuple[NonNegativeInt, ...]
Names = Annotated[tuple[str, ...], Distinct]


class Functions(Spec):
    """The functions that random nets express most often, one a realization: P(f) by sampling."""

    draws: PositiveInt
    """So many random nets are drawn, from `net.init`."""


class Data(Spec):
    """The images of a run: a source by its name in config.yaml, and what is drawn from it.

    With `functions` all of the source is trained on, and nothing else is said.
    """

    source: str
    """A name from `sources`."""
    classes: Annotated[Numbers, Field(min_length=2), Distinct] | None = None
    """The classes to use, by number, in this order; all by default."""
    only: Annotated[Numbers, Field(min_length=1), Distinct] | None = None
    """Draws only images of these classes and changes no label and no output.

    So it is one task of a net that knows them all.
    """
    positive: Annotated[Numbers, Field(min_length=1), Distinct] | None = None
    """Makes the task binary: label 1 for these classes, 0 for the others."""
    per_class: PositiveInt | None = None
    """Training images of each class; or say `train_size`."""
    train_size: PositiveInt | None = None
    """Training images in all."""
    test_size: PositiveInt | None = None
    """Test images in all, drawn at random."""
    split: NonNegativeInt | None = None
    """A seed: one draw for all realizations; without it each draws its own."""
    label_noise: float | None = Field(default=None, ge=0, lt=1)
    """Fraction of the training labels that are replaced by a wrong one."""
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
    """The base run with whose solution another begins, and the layers that it draws anew."""

    run: str
    """A base run with the same net, the same outputs and as many realizations."""
    fresh: tuple[str, ...] = ()
    """Layers that are drawn anew."""


class Run(Training):
    """A base run: everything that a sweep may vary.

    `measures` has the options in which the study's measures are different on this run.
    """

    data: Data
    start: Start | None = None
    realizations: PositiveInt | None = None
    """In place of the study's."""
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
    """The very same runs as those of some sweeps of other studies, each `<study>.<sweep>`.

    With `ends` they are the first and the last of each. Where `measures` are listed, no others of a
    figure's are taken of them.
    """

    sweeps: Annotated[Names, Field(min_length=1)]
    """As in `[prior.sgd, prior.adam]`."""
    ends: bool = False
    measures: Annotated[Names, Field(min_length=1)] | None = None


class Figure(Spec):
    """A figure: the sweeps it draws and the measures it needs on each of their runs.

    A schematic has neither. With `where_it_fits` a measure is left out on runs of which it can't be
    taken. With `costs` the figure is told how long each measurement took.
    """

    title: str
    """What it shows."""
    sweeps: Names = ()
    """The sweeps that it draws."""
    measures: Names = ()
    """The measures that it needs on each of their runs."""
    where_it_fits: bool = False
    """A measure that can't be taken of a run is left out there; else it is a mistake."""
    costs: bool = False
    """The figure is told how long each measurement took."""


class Study(Spec):
    """One study: base runs, sweeps of them, measures on them, and the figures of a paper.

    What is `borrowed` stands beside the sweeps: a figure names either.
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
