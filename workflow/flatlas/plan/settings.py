"""The user's configuration: config/config.yaml, with what the command line laid over it."""

from typing import Any

from pydantic import Field

from flatlas.plan.data_specs import SourceSpec
from flatlas.plan.spec import Spec


class Settings(Spec):
    """The keys of config/config.yaml; config/README.md describes each.

    `a` and `b` are the two folders of results that `snakemake compare` holds side by side.
    `complete` says whether pages of all studies wait until every figure is drawn. Those that do not
    tell of what is there, and have nothing made for them.
    """

    preset: str
    complete: bool = True
    a: str | None = None
    b: str | None = None
    data_root: str
    sources: dict[str, SourceSpec]
    studies: dict[str, dict[str, Any]] = Field(default={})


class Preset(Spec):
    """A preset: what it changes in each study.

    `judged` says whether its data are the papers', so that it can decide what they claim.
    """

    title: str
    judged: bool = True
    studies: dict[str, dict[str, Any]] = Field(default={})
