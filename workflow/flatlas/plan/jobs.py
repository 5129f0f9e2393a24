"""The jobs of a plan: what each reads and writes, its parameters, and its resources."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from flatlas.plan import paths, work
from flatlas.plan.code import measure_modules, net_modules, source_modules, training_modules
from flatlas.plan.data_specs import (
    AttackSpec,
    FunctionsSpec,
    NoiseSpec,
    SamplesSpec,
    SourceSpec,
    subset_of,
)
from flatlas.plan.figure_jobs import figure_job
from flatlas.plan.ids import kernel_id, run_id, samples_id, source_id
from flatlas.plan.kernel_specs import KernelSpec, sampled_kernel
from flatlas.plan.lookup import Job
from flatlas.plan.measure_specs import MEASURES, MeasureSpec, second_task
from flatlas.plan.measurements.recordings import AlongRecording
from flatlas.plan.needs import kernel_needs, measuring_needs, training_needs
from flatlas.plan.networks import networks_job
from flatlas.plan.plan import Plan
from flatlas.plan.spec import Spec
from flatlas.plan.training_specs import RunSpec, given_to

Jobs = Mapping[str, Job]
# The outputs of every rule with a wildcard.
OUTPUTS = paths.OUTPUTS | {
    f"measure_{name}": paths.measure_outputs(name, measure.tables)
    for name, measure in MEASURES.items()
}


def jobs_of(plan: Plan) -> dict[str, Job]:
    """Every job by the id of its result (or a figure's target), each after the jobs it needs."""
    jobs: dict[str, Job] = {}
    for name, source in plan.sources.items():
        jobs[name] = _source(name, source)
    for name, samples in plan.samples.items():
        jobs[name] = _samples(name, samples, jobs)
    for name, run in plan.runs.items():
        jobs[name] = _training(name, run, jobs, plan.settings.distributed)
    for name, kernel in plan.kernels.items():
        jobs[name] = _kernel(name, kernel, jobs)
    for name, measured in plan.measurements.items():
        jobs[name] = _measurement(name, measured, jobs)
    for target in plan.figures:
        jobs[target] = figure_job(plan, target, jobs)
    if table := networks_job(plan, jobs):
        jobs[table.rule] = table
    return jobs


def _source(name: str, source: SourceSpec) -> Job:
    return _job(
        rule="source",
        name=name,
        spec=source,
        inputs={},
        modules=source_modules(source),
        work=work.Work("source", "", 1),
        mem_mb=2000,
        runtime=60,
    )


def _samples(name: str, samples: SamplesSpec, jobs: Jobs) -> Job:
    inputs = {}
    if not isinstance(samples, NoiseSpec):
        inputs["images"] = _images(samples, jobs)
    if isinstance(samples, NoiseSpec | AttackSpec):
        inputs["subset"] = jobs[samples_id(samples.subset)].outputs["samples"]
    counted = isinstance(samples, FunctionsSpec)
    return _job(
        rule=samples.rule,
        name=name,
        spec=samples,
        inputs=inputs,
        modules=net_modules(samples.net) if isinstance(samples, FunctionsSpec) else [],
        work=work.samples_work(samples),
        mem_mb=2000 if counted else 1000,
        runtime=240 if counted else 10,
    )


def _training(name: str, run: RunSpec, jobs: Jobs, distributed: bool) -> Job:
    rule, inputs = "record" if run.snapshots else "train", _drawn(run.samples, jobs)
    if run.start is not None:
        inputs["start"] = jobs[run_id(run.start.run)].outputs["weights"]
    if weights := given_to(run.net):
        inputs["weights"] = weights
    # One process per learner, except that recorded snapshots take one. The time requested is for
    # one process.
    ranks = run.learner_count if distributed and not run.snapshots else 1
    return _job(
        rule=rule,
        script="train",
        name=name,
        spec=run,
        inputs=inputs,
        modules=training_modules(run),
        work=work.training_work(run),
        ranks=ranks,
        # Trainings are the longest jobs. Started last, one would run alone at the end.
        priority=1 + work.slowness(run),
        **training_needs(run, ranks),
    )


def _kernel(name: str, kernel: KernelSpec, jobs: Jobs) -> Job:
    return _job(
        rule="kernel",
        name=name,
        spec=kernel,
        inputs=_drawn(kernel.samples, jobs),
        modules=net_modules(kernel.net),
        work=work.kernel_work(kernel),
        **kernel_needs(kernel),
    )


def _measurement(name: str, measured: MeasureSpec, jobs: Jobs) -> Job:
    return _job(
        rule=f"measure_{measured.options.measure}",
        script="measure",
        name=name,
        spec=measured,
        inputs=_measured(measured, jobs),
        modules=measure_modules(measured),
        work=work.measure_work(measured),
        **measuring_needs(measured),
    )


def _measured(measured: MeasureSpec, jobs: Jobs) -> dict[str, Any]:
    """The files that a measure reads. They depend on its options and its run."""
    run, inputs = measured.run, {}
    trained = jobs[run_id(run)].outputs
    if isinstance(run.samples, FunctionsSpec):
        # This file says how often random nets express each function.
        inputs["functions"] = jobs[samples_id(run.samples)].outputs["functions"]
    if isinstance(measured.options, AlongRecording):
        inputs["trajectory"] = trained["trajectory"]
    kernel, second = sampled_kernel(measured), second_task(measured)
    if kernel is not None:
        inputs["kernel"] = jobs[kernel_id(kernel)].outputs["kernel"]
    if second is not None:
        inputs["second_task"] = jobs[samples_id(second)].outputs["samples"]
    ended = {name: trained[name] for name in ("weights", "outcomes")}
    return {**inputs, **_drawn(run.samples, jobs), **ended}


def _drawn(samples: SamplesSpec, jobs: Jobs) -> dict[str, Any]:
    """The files of a source's images, and the one that says which images are drawn."""
    drawn = jobs[samples_id(samples)].outputs["samples"]
    return {"images": _images(samples, jobs), "samples": drawn}


def _images(samples: SamplesSpec, jobs: Jobs) -> str:
    return jobs[source_id(subset_of(samples).source)].outputs["images"]


def _job(rule: str, name: str, spec: Spec, work: work.Work, script: str = "", **fields: Any) -> Job:
    """A job of a rule that has one wildcard, the id of its result.

    Its script has the rule's name, except where `script` is given.
    """
    outputs = {key: paths.WILDCARD.sub(name, file) for key, file in OUTPUTS[rule].items()}
    return Job(
        rule=rule,
        script=script or rule,
        outputs=outputs,
        spec=spec.resolved(),
        work=asdict(work),
        **fields,
    )
