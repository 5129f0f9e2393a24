"""The user's configuration: config/config.yaml with the changes from the command line."""

from typing import Any

from pydantic import Field

from flatlas.plan.bounds import Name, PathText
from flatlas.plan.data_specs import SourceSpec
from flatlas.plan.spec import Spec


class Settings(Spec):
    """The keys of config/config.yaml."""

    preset: str
    """The scale: the name of a file in `presets/`."""
    complete: bool = True
    """`false`: scorecards and `report` cover only the figures that are drawn already."""
    before: PathText | None = None
    """For `compare`: a folder with a `scorecard.csv`."""
    after: PathText | None = None
    """The folder to compare with it."""
    data_root: PathText
    """The folder of the data sets: `MNIST/raw/`, `cifar-10-batches-py/`, folders of images.

    Missing ones are downloaded to it.
    """
    distributed: bool = False
    """`true`: a process for each learner of SSGD and DPSGD (docs/scale.md)."""
    warm_start: bool = True
    """`false`: every local job starts its own Python (docs/reruns.md). Results are the same."""
    sources: dict[Name, SourceSpec]
    """The names that studies use."""
    studies: dict[str, dict[str, Any]] = Field(default={})
    """Your changes: `{duality: {runs: {base: {optimizer: {lr: 0.05}}}}}`."""


class Preset(Spec):
    """A preset: its changes to each study.

    `judged` says whether its data can decide the papers' claims.
    """

    title: str
    """Its name on pages."""
    judged: bool = True
    """`false`: every verdict is `undecided`."""
    studies: dict[str, dict[str, Any]] = Field(default={})
    """Changes to each study: an entry for every study (`{}`: none), or no entries at all."""
