"""The user's configuration: config/config.yaml, with what the command line laid over it."""

from typing import Any

from pydantic import Field

from flatlas.plan.data_specs import SourceSpec
from flatlas.plan.spec import Spec


class Settings(Spec):
    """The keys of config/config.yaml; config/README.md describes each."""

    preset: str
    data_root: str
    distributed: bool = False
    sources: dict[str, SourceSpec]
    studies: dict[str, dict[str, Any]] = Field(default={})


class Preset(Spec):
    """A preset: what it changes in each study.

    `judged` says whether its data are the papers', so that it can decide what they claim.
    """

    title: str
    judged: bool = True
    studies: dict[str, dict[str, Any]] = Field(default={})
