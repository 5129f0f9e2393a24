"""A plan: the specs of all results by their ids, and the figures by their targets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import SamplesSpec, SourceSpec, subset_of
from flatlas.plan.ids import kernel_id, run_id, samples_id, source_id
from flatlas.plan.kernel_specs import KernelSpec, sampled_kernel
from flatlas.plan.measure_specs import MeasureSpec, second_task
from flatlas.plan.settings import Preset, Settings
from flatlas.plan.spec import Spec
from flatlas.plan.studies import Study
from flatlas.plan.training_specs import RunSpec


@dataclass(frozen=True)
class Entry:
    """One run in a figure: its sweep, its values of the swept keys, and its measures by name.

    Measures that cannot be taken of the run are left out. Figures know all groups of a run by the
    id of the `first`.
    """

    sweep: str
    point: Mapping[str, Any]
    run: str
    first: str
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
    # Where users' studies have runs, sweeps and measures that no figure needs.
    unused: list[str] = field(default_factory=list)
    # Files of the user's own nets, relative to the folder in which Snakemake works.
    own_files: set[str] = field(default_factory=set)

    def add_run(self, spec: RunSpec) -> str:
        """Add a training, those that it starts from, and their data. Returns its id."""
        if spec.start is not None:
            self.add_run(spec.start.run)
        subset = subset_of(spec.samples)
        _add(self.sources, source_id(subset.source), subset.source)
        _add(self.samples, samples_id(subset), subset)
        _add(self.samples, samples_id(spec.samples), spec.samples)
        return _add(self.runs, run_id(spec), spec)

    def add_measurement(self, identity: str, measured: MeasureSpec) -> str:
        """Add a measurement, with its kernel and the data of its second task. Returns its id."""
        kernel, second = sampled_kernel(measured), second_task(measured)
        if kernel is not None:
            _add(self.kernels, kernel_id(kernel), kernel)
        if second is not None:
            _add(self.samples, samples_id(second), second)
        return _add(self.measurements, identity, measured)

    def targets(self, study: str) -> list[str]:
        """The targets of one study's figures."""
        return [target for target, figure in self.figures.items() if figure.study == study]


def _add(known: dict[str, Any], identity: str, spec: Spec) -> str:
    """Enter a spec under its id, and return the id. Two specs must never share one."""
    if known.setdefault(identity, spec) != spec:
        raise FlatlasError(f"two different specs have the id {identity}: change either a little.")
    return identity
