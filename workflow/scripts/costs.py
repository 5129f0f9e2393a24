"""The costs of a plan's figures: measured if they are drawn, estimated if not."""

from dataclasses import asdict

from pydantic import ValidationError

from flatlas.jobs.job import Job
from flatlas.errors import FlatlasError
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.paths import OUTPUTS, measure_outputs, records
from flatlas.plan.training_specs import RunSpec
from flatlas.plan.work import kernel_work, measure_work, training_work
from flatlas.report import costs
from flatlas.report.estimates import JobCost, known_costs, measured, read_costs
from flatlas.store.atomic import write_text
from flatlas.store.provenance import read_provenance
from flatlas.store.tables import write_table

# The jobs that take long: their results, their spec, and their amount of work.
RECORDS = [
    (OUTPUTS["train"], RunSpec, training_work),
    (OUTPUTS["record"], RunSpec, training_work),
    (OUTPUTS["kernel"], KernelSpec, kernel_work),
    (measure_outputs("*", ()), MeasureSpec, measure_work),
]


def measured_here():
    """Every training, kernel and measure that ran in this checkout, at any preset."""
    for outputs, spec, work in RECORDS:
        for provenance in records(outputs):
            try:
                resolved = read_provenance(provenance)["spec"]
                size = work(spec.model_validate(resolved))
            except (ValidationError, FlatlasError):
                # It is damaged, or an older flatlas wrote it.
                continue
            yield JobCost(**asdict(size), **measured(provenance))


with Job(globals().get("snakemake"), "costs") as job:
    jobs = read_costs(job.params.jobs)
    ran = [*measured_here(), *(one for one in jobs.values() if one.ran)]
    known = known_costs(ran, job.params.preset)
    targets = costs.cost_of_targets(costs.needed_jobs(jobs, job.params.targets, known))
    studies = {study: job.params.targets[study] for study in job.params.studies}
    measures = costs.cost_of_measures(costs.needed_jobs(jobs, studies, known))
    write_table(job.output.csv, targets)
    write_table(job.output.measures, measures)
    records = {job.params.jobs[name]["provenance"]: one for name, one in jobs.items()}
    write_table(job.output.jobs, costs.middle_jobs(records))
    text = f"{costs.readable_measures(measures)}\n\n{costs.readable(targets)}\n"
    write_text(job.output.txt, text)
    print(text)
