"""A plan: the specs of all results by their ids, and the figures by their targets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flatlas.plan.data_specs import SamplesSpec, SourceSpec
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.settings import Preset, Settings
from flatlas.plan.studies import Study
from flatlas.plan.training_specs import RunSpec


@dataclass(frozen=True)
class Entry:
    """One run in a figure: its sweep, its values of the swept keys, and its measures by name.

    Measures that cannot be taken of the run are left out.
    """

    sweep: str
    point: Mapping[str, Any]
    run: str
    measurements: Mapping[str, str]


@dataclass(frozen=True)
class Drawing:
    """What draws a figure: a module of a study, and the figure's name in that module."""

    study: str
    figure: str
    module: str


@dataclass(frozen=True)
class FigurePlan:
    """One figure: its study and name, what draws it, and the runs it shows.

    `own` says whether its study is one of the user's, `place` where the figure is declared.
    """

    study: str
    name: str
    title: str
    drawing: Drawing
    own: bool
    entries: tuple[Entry, ...]
    costs: bool
    claims: bool
    place: str

    @property
    def target(self) -> str:
        """The name to type: `snakemake duality_fig3`."""
        return f"{self.study}_{self.name}"


@dataclass
class Plan:
    """Everything to compute for a configuration. A run that two figures need appears once.

    The order matters: a spec comes before those that build on it.
    """

    settings: Settings
    scale: Preset
    studies: dict[str, Study] = field(default_factory=dict)
    sources: dict[str, SourceSpec] = field(default_factory=dict)
    samples: dict[str, SamplesSpec] = field(default_factory=dict)
    runs: dict[str, RunSpec] = field(default_factory=dict)
    kernels: dict[str, KernelSpec] = field(default_factory=dict)
    measurements: dict[str, MeasureSpec] = field(default_factory=dict)
    figures: dict[str, FigurePlan] = field(default_factory=dict)
    # For each study, the settings that differ from its own file: the value in the file, and here.
    changes: dict[str, dict[str, tuple[Any, Any]]] = field(default_factory=dict)
    # The size of the plan so far: runs and measurements, each with its seeds and moments.
    extent: int = 0
    # Files of the user's own nets, relative to the folder in which Snakemake works.
    own_files: set[str] = field(default_factory=set)

    def targets(self, study: str) -> list[str]:
        """The targets of one study's figures."""
        return [target for target, figure in self.figures.items() if figure.study == study]
