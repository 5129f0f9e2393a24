"""A plan: every result by its id, every figure by its target, and which file each job reads."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flatlas.plan import needs, paths
from flatlas.plan.code import is_judged
from flatlas.plan.data_specs import (
    AttackSpec,
    FunctionsSpec,
    NoiseSpec,
    SamplesSpec,
    SourceSpec,
    SubsetSpec,
    images_seen,
    subset_of,
)
from flatlas.plan.ids import kernel_id, run_id, samples_id, source_id
from flatlas.plan.kernel_specs import KernelSpec, sampled_kernel
from flatlas.plan.measure_specs import MEASURES, MeasureSpec, second_task
from flatlas.plan.measurements.recordings import AlongRecording
from flatlas.plan.net_sizes import weights
from flatlas.plan.net_specs import Own
from flatlas.plan.settings import Preset, Settings
from flatlas.plan.studies import Study
from flatlas.plan.training_specs import RunSpec

# What a figure's point calls the tables of measures that were not taken of it; `evidence`, which
# reads it, has the same word.
LACKS = "lacks"


@dataclass(frozen=True)
class Entry:
    """One run in a figure: the sweep it belongs to, the values it stands at, its measurements.

    A measure that can't be taken of it is not among them.
    """

    sweep: str
    point: Mapping[str, Any]
    run: str
    measurements: Mapping[str, str]


@dataclass(frozen=True)
class FigurePlan:
    """One figure: its study and name, the module that draws it, and the runs it is drawn from."""

    study: str
    name: str
    title: str
    module: str
    entries: tuple[Entry, ...]
    costs: bool = False

    @property
    def target(self) -> str:
        """The name to type: `snakemake duality_fig3`."""
        return f"{self.study}_{self.name}"


@dataclass
class Plan:
    """All that the configuration asks for. Runs that two figures need stand here once."""

    settings: Settings
    scale: Preset
    studies: dict[str, Study] = field(default_factory=dict)
    sources: dict[str, SourceSpec] = field(default_factory=dict)
    samples: dict[str, SamplesSpec] = field(default_factory=dict)
    runs: dict[str, RunSpec] = field(default_factory=dict)
    kernels: dict[str, KernelSpec] = field(default_factory=dict)
    measurements: dict[str, MeasureSpec] = field(default_factory=dict)
    figures: dict[str, FigurePlan] = field(default_factory=dict)
    # For each study, the settings that its own file has otherwise: theirs, and ours.
    changes: dict[str, dict[str, tuple[Any, Any]]] = field(default_factory=dict)
    # Files of the user's own nets, as seen from the folder in which Snakemake works.
    own_files: set[str] = field(default_factory=set)

    @property
    def preset(self) -> str:
        """The scale at which everything is done."""
        return self.settings.preset

    @property
    def judged(self) -> bool:
        """Whether this scale can decide what the papers claim."""
        return self.scale.judged

    def images_file(self, samples: SamplesSpec) -> str:
        """The source that samples index into."""
        source = source_id(subset_of(samples).source)
        return paths.SOURCE.format(source=source, file="images.safetensors")

    def subset_file(self, samples: SamplesSpec) -> str:
        """The subset that label noise or an attack set starts from."""
        return samples_file(subset_of(samples))

    def kernel_files(self, kernel: str) -> dict[str, str]:
        """What a kernel is sampled on."""
        samples = self.kernels[kernel].samples
        return {"images": self.images_file(samples), "samples": samples_file(samples)}

    def training_files(self, run: str) -> dict[str, str]:
        """What a training reads: images, and the weights of another run or of a user's own net."""
        spec = self.runs[run]
        files = self._images_files(spec.samples)
        if spec.start is not None:
            files["start"] = run_file(spec.start.run, "weights.safetensors")
        if isinstance(spec.net, Own) and spec.net.weights is not None:
            files["weights"] = spec.net.weights
        return files

    def ranks(self, run: str) -> int:
        """The processes of a training: one for each learner, where those are distributed."""
        learners = self.runs[run].learners
        return learners.count if learners and self.settings.distributed else 1

    def training_gpus(self, run: str) -> int:
        """The GPUs to ask for a training."""
        spec = self.runs[run]
        return self.ranks(run) * needs.gpus(spec.net, spec.input_shape, spec.outputs)

    def training_memory(self, run: str) -> int:
        """The memory in MB to ask for a training."""
        return needs.training_memory(self.runs[run], self.ranks(run))

    def training_minutes(self, run: str) -> int:
        """The time to ask for a training; that it may be distributed counts for nothing."""
        return needs.training_minutes(self.runs[run])

    def _images_files(self, samples: SamplesSpec) -> dict[str, str]:
        return {"images": self.images_file(samples), "samples": samples_file(samples)}

    def measure_files(self, measurement: str) -> dict[str, str]:
        """What a measure reads: a run's weights and how it ended, the images it was trained on.

        Where those are labelled by functions, also how often random nets express each of them;
        where it is taken along a recording, that; the kernel, where that is sampled; and the images
        of a second task.
        """
        measured = self.measurements[measurement]
        run, further = measured.run, {}
        if isinstance(run.samples, FunctionsSpec):
            further["functions"] = paths.FUNCTIONS.format(
                samples=samples_id(run.samples), file="functions.parquet"
            )
        if isinstance(measured.options, AlongRecording):
            further["trajectory"] = run_file(run, "trajectory.npy")
        kernel = sampled_kernel(measured)
        if kernel is not None:
            further["kernel"] = paths.KERNEL.format(kernel=kernel_id(kernel), file="kernel.npy")
        second = second_task(measured)
        if second is not None:
            further["second_task"] = samples_file(second)
        return {
            **further,
            **self._images_files(run.samples),
            "weights": run_file(run, "weights.safetensors"),
            "outcomes": run_file(run, "outcomes.csv"),
        }

    def memory(self, measurement: str) -> int:
        """The memory in MB to ask for a measure."""
        measured = self.measurements[measurement]
        run, entry = measured.run, MEASURES[measured.options.measure]
        of_weights = weights(run.net, run.input_shape, run.outputs) * measured.options.vectors
        matrices = entry.matrices * _matrix_mb(run.samples)
        return entry.mem_mb + matrices + 8 * of_weights // 10**6

    def measuring_minutes(self, measurement: str) -> int:
        """The time to ask for a measure."""
        return needs.measuring_minutes(self.measurements[measurement])

    def measure_gpus(self, measurement: str) -> int:
        """The GPUs to ask for a measure."""
        run = self.measurements[measurement].run
        return needs.gpus(run.net, run.input_shape, run.outputs)

    def kernel_gpus(self, kernel: str) -> int:
        """The same for a kernel, whose random nets have one output."""
        spec = self.kernels[kernel]
        return needs.gpus(spec.net, spec.input_shape, outputs=1)

    def kernel_minutes(self, kernel: str) -> int:
        """The time to ask for a kernel."""
        return needs.kernel_minutes(self.kernels[kernel])

    def kernel_memory(self, kernel: str) -> int:
        """The same for a kernel: the sum over nets, a copy on its way to the disk, and features."""
        return 4000 + 2 * _matrix_mb(self.kernels[kernel].samples)

    def figure_files(self, target: str) -> dict[str, list[str]]:
        """What a figure reads: the tables of its runs and measurements, in the order of entries.

        A measure's tables are of the entries that have it, and so is the record of what it cost.
        """
        entries = self.figures[target].entries
        if not entries:
            return {}
        runs = [self.runs[entry.run] for entry in entries]
        files = {
            "history": [run_file(run, "history.parquet") for run in runs],
            "outcomes": [run_file(run, "outcomes.csv") for run in runs],
        }
        for table, (name, file) in self._tables(target).items():
            measured = [one.measurements[name] for one in entries if name in one.measurements]
            files[table] = [self.measured_file(one, file) for one in measured]
        return files

    def _tables(self, target: str) -> dict[str, tuple[str, str]]:
        """What a figure calls each table of its measures: the measure, and the table's file."""
        figure, tables = self.figures[target], {}
        measured = {name: one for each in figure.entries for name, one in each.measurements.items()}
        for name, measurement in measured.items():
            for table in MEASURES[self.measurements[measurement].options.measure].tables:
                tables[f"{name}_{table}"] = name, f"{table}.parquet"
            if figure.costs:
                tables[f"{name}_cost"] = name, "provenance.json"
        return tables

    def measured_file(self, measurement: str, file: str) -> str:
        """One file of one measurement."""
        measure = self.measurements[measurement].options.measure
        return paths.MEASURE.format(measure=measure, measurement=measurement, file=file)

    def figure_file(self, target: str, extension: str = "pdf") -> str:
        """A figure, or the CSV of the points in it."""
        figure = self.figures[target]
        return paths.FIGURE.format(
            preset=self.preset, study=figure.study, figure=figure.name, extension=extension
        )

    def figure_results(self, target: str) -> dict[str, str]:
        """What a figure's job writes beside the picture for the report."""
        figure = self.figures[target]
        kinds = {"pdf": "pdf", "csv": "csv", "provenance": "json"}
        if is_judged(figure.study, figure.module):
            kinds["claims"] = "claims.csv"
        return {name: self.figure_file(target, kind) for name, kind in kinds.items()}

    def targets(self, study: str) -> list[str]:
        """The figures of one study, as they are typed."""
        return [target for target, figure in self.figures.items() if figure.study == study]

    def page_file(self, page: str, extension: str) -> str:
        """A page on all studies."""
        return paths.PAGE.format(preset=self.preset, page=page, extension=extension)

    def scorecard_file(self, study: str, extension: str) -> str:
        """All claims of one study, as a table or a page."""
        return paths.FIGURE.format(
            preset=self.preset, study=study, figure="scorecard", extension=extension
        )

    def study_figures(self, study: str) -> list[str]:
        """Every file of the figures of one study: one that was deleted is made again."""
        return [
            file
            for target in self.targets(study)
            for file in (*self.figure_results(target).values(), self.figure_file(target, "png"))
        ]

    def study_results(self, study: str) -> list[str]:
        """All that a study is asked for: its figures, and its scorecard where claims are judged."""
        scorecard = [self.scorecard_file(study, kind) for kind in ("csv", "html")]
        return self.study_figures(study) + (scorecard if self.study_claims(study) else [])

    def study_claims(self, study: str) -> list[str]:
        """The judged claims of one study, figure by figure."""
        results = [self.figure_results(target) for target in self.targets(study)]
        return [files["claims"] for files in results if "claims" in files]

    def figure_spec(self, target: str) -> dict[str, Any]:
        """All that decides what a figure shows, but its code: `inputs` stands for what it reads."""
        figure = self.figures[target]
        files = json.dumps(self.figure_files(target))
        return {
            "study": figure.study,
            "figure": figure.name,
            "module": figure.module,
            "points": self.figure_points(target),
            "inputs": hashlib.sha256(files.encode()).hexdigest()[:12],
        }

    def figure_points(self, target: str) -> list[dict[str, Any]]:
        """For each entry of a figure: its sweep, its values, its run, as JSON types.

        Where some measures were not taken of it, `lacks` names their tables.
        """
        tables = self._tables(target)
        return [
            {
                "sweep": entry.sweep,
                "run": entry.run,
                **_scaling(self.runs[entry.run]),
                **entry.point,
                **_lacking([one for one in tables if tables[one][0] not in entry.measurements]),
            }
            for entry in self.figures[target].entries
        ]


def _lacking(tables: list[str]) -> dict[str, Any]:
    return {LACKS: tables} if tables else {}


def _matrix_mb(samples: SamplesSpec) -> int:
    """What a matrix over the images of S and E takes in float64."""
    return 8 * images_seen(samples) ** 2 // 10**6


def samples_file(samples: SamplesSpec) -> str:
    """The table of any samples."""
    room = {
        SubsetSpec: paths.SUBSET,
        NoiseSpec: paths.LABEL_NOISE,
        AttackSpec: paths.ATTACK_SET,
        FunctionsSpec: paths.FUNCTIONS,
    }
    return room[type(samples)].format(samples=samples_id(samples), file="samples.parquet")


def run_file(run: RunSpec, file: str) -> str:
    """A result of a run; runs that record a trajectory lie in a folder of their own."""
    room = paths.RECORDING if run.snapshots else paths.RUN
    return room.format(run=run_id(run), file=file)


def _scaling(run: RunSpec) -> dict[str, Any]:
    """When and how much a run is α-scaled: figures mark it, whether a sweep varies it or not."""
    told = run.rescaling.model_dump(mode="json") if run.rescaling else {}
    return {f"rescaling.{key}": value for key, value in told.items()}
