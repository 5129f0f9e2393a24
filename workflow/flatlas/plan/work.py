"""How much work a job is, so that the time of one tells something of the time of another.

A unit of work is one image of one realization in one epoch, or at one moment at which it is
measured. Jobs are alike that do the same with the same kind of net.
"""

from dataclasses import dataclass

from flatlas.plan import paths
from flatlas.plan.data_specs import (
    AttackSpec,
    FunctionsSpec,
    NoiseSpec,
    SamplesSpec,
    images_seen,
    images_trained,
)
from flatlas.plan.ids import net_slug
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.measurements.curvature import Sharpness
from flatlas.plan.plan import Plan, run_file, samples_file
from flatlas.plan.stages import needed_by, stages
from flatlas.plan.training_specs import RunSpec


@dataclass(frozen=True)
class Work:
    """`stage` and `net` say which jobs are alike, `units` how much larger one is than another."""

    stage: str
    net: str
    units: float


@dataclass(frozen=True)
class PlannedJob:
    """A job that a plan has: what it is, and where the record of it will lie."""

    work: Work
    provenance: str


def training_work(run: RunSpec) -> Work:
    """As if every realization took all the epochs that it may take; a look at it is like one."""
    epochs = run.stop.epochs + run.stop.extra_epochs or 1
    return Work("train", net_slug(run.net), len(run.seeds) * epochs * images_trained(run.samples))


def measure_work(measured: MeasureSpec) -> Work:
    """A measure of every realization at every moment that is asked for.

    The searches for the sharpness differ by a factor of ten: each is a stage of its own.
    """
    run, options = measured.run, measured.options
    units = len(run.seeds) * len(options.at) * images_seen(run.samples)
    stage: str = options.measure
    if isinstance(options, Sharpness):
        stage += f" by {options.by}"
    return Work(stage, net_slug(run.net), units)


def kernel_work(kernel: KernelSpec) -> Work:
    """Random nets, as many as images, on these images, for every draw of them."""
    units = len(kernel.samples.seeds) * images_seen(kernel.samples) ** 2
    return Work("kernel", net_slug(kernel.net), units)


def samples_work(samples: SamplesSpec) -> Work:
    """Drawing a table of indices."""
    named = {NoiseSpec: "label_noise", AttackSpec: "attack_set", FunctionsSpec: "functions"}
    units = samples.draws if isinstance(samples, FunctionsSpec) else 1
    return Work(named.get(type(samples), "subset"), "", units)


def planned_jobs(plan: Plan) -> dict[str, PlannedJob]:
    """Every job of a plan, by the id of what it makes."""
    jobs = {
        source: PlannedJob(
            Work("source", "", 1), paths.SOURCE.format(source=source, file="provenance.json")
        )
        for source in plan.sources
    }
    for name, samples in plan.samples.items():
        beside = samples_file(samples).replace("samples.parquet", "provenance.json")
        jobs[name] = PlannedJob(samples_work(samples), beside)
    for name, run in plan.runs.items():
        jobs[name] = PlannedJob(training_work(run), run_file(run, "provenance.json"))
    for name, kernel in plan.kernels.items():
        file = paths.KERNEL.format(kernel=name, file="provenance.json")
        jobs[name] = PlannedJob(kernel_work(kernel), file)
    for name, measured in plan.measurements.items():
        file = paths.MEASURE.format(
            measure=measured.options.measure, measurement=name, file="provenance.json"
        )
        jobs[name] = PlannedJob(measure_work(measured), file)
    for target in plan.figures:
        file = plan.figure_results(target)["provenance"]
        jobs[target] = PlannedJob(Work("figure", "", 1), file)
    return jobs


def jobs_of_figures(plan: Plan) -> dict[str, list[str]]:
    """For each figure all jobs that it needs, one through another, and its own."""
    needed = needed_by(plan.figures, stages(plan)["edges"])
    return {target: sorted(names) for target, names in needed.items()}


def jobs_of_targets(plan: Plan) -> dict[str, list[str]]:
    """The same for each figure and each study, in which shared jobs count once."""
    figures = jobs_of_figures(plan)
    studies = {
        study: sorted({name for target in plan.targets(study) for name in figures[target]})
        for study in plan.studies
    }
    return {**figures, **studies}
