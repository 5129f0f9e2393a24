"""The user's configuration: config/config.yaml, with what the command line laid over it."""

from typing import Any

from pydantic import Field

from flatlas.plan.data_specs import SourceSpec
from flatlas.plan.spec import Spec


class Settings(Spec):
    """The keys of config/config.yaml."""

    preset: str
    """The scale at which everything is done: a file of `presets/`."""
    complete: bool = True
    """Whether `snakemake scorecard` and `snakemake report` first have every figure drawn.

    With `false` they tell of those that are drawn already, and have none drawn.
    """
    before: str | None = None
    """A folder of results with a `scorecard.csv`, for `snakemake compare`."""
    after: str | None = None
    """The folder that is held beside it."""
    data_root: str
    """Where the original data sets are found, or downloaded to.

    `MNIST/raw/…`, `cifar-10-batches-py/…`, folders of images.
    """
    distributed: bool = False
    """Whether each learner of SSGD and DPSGD has a process of its own (docs/scale.md)."""
    warm_start: bool = True
    """Whether local jobs of one thread start in an interpreter that has its imports already.

    Results are the same; with `false` every job starts its own Python.
    """
    sources: dict[str, SourceSpec]
    """What the studies mean by a name of a data source."""
    studies: dict[str, dict[str, Any]] = Field(default={})
    """Your own changes, as in `{duality: {runs: {base: {optimizer: {lr: 0.05}}}}}`."""


class Preset(Spec):
    """A preset: what it changes in each study.

    `judged` says whether its data are the papers', so that it can decide what they claim.
    """

    title: str
    """What it is called."""
    judged: bool = True
    """With `false` every verdict is `undecided`."""
    studies: dict[str, dict[str, Any]] = Field(default={})
    """The changes that it lays over each study."""
