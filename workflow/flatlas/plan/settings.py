"""The user's configuration: config/config.yaml with the changes from the command line."""

from typing import Any

from pydantic import Field

from flatlas.plan.data_specs import SourceSpec
from flatlas.plan.spec import Spec


class Settings(Spec):
    """The keys of config/config.yaml."""

    preset: str
    """The scale: the name of a file in `presets/`."""
    complete: bool = True
    """Whether `snakemake scorecard` and `snakemake report` first draw every figure.

    With `false` they cover only the figures that are drawn already.
    """
    before: str | None = None
    """A folder of results with a `scorecard.csv`, for `snakemake compare`."""
    after: str | None = None
    """The folder to compare it with."""
    data_root: str
    """The folder of the original data sets; missing ones are downloaded to it.

    `MNIST/raw/…`, `cifar-10-batches-py/…`, folders of images.
    """
    distributed: bool = False
    """Whether each learner of SSGD and DPSGD has a separate process (docs/scale.md)."""
    warm_start: bool = True
    """Whether local jobs of one thread start in an interpreter that has its imports already.

    Results are the same; with `false` every job starts its own Python.
    """
    sources: dict[str, SourceSpec]
    """Data sources by the name that studies use."""
    studies: dict[str, dict[str, Any]] = Field(default={})
    """Your changes, as in `{duality: {runs: {base: {optimizer: {lr: 0.05}}}}}`."""


class Preset(Spec):
    """A preset: its changes to each study.

    `judged` says whether its data can decide the papers' claims.
    """

    title: str
    """What it is called."""
    judged: bool = True
    """With `false` every verdict is `undecided`."""
    studies: dict[str, dict[str, Any]] = Field(default={})
    """Changes to each study: an entry for every study (`{}` for no change), or no entry at all."""
