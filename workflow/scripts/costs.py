"""What the figures of a plan cost: measured where they were made, estimated where not."""

import json
from dataclasses import asdict

from pydantic import ValidationError

from flatlas.jobs.job import Job
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.paths import RESULTS
from flatlas.plan.training_specs import RunSpec
from flatlas.plan.work import kernel_work, measure_work, training_work
from flatlas.report import costs
from flatlas.store.atomic import replacing
from flatlas.store.tables import write_table

# Where records of jobs lie that are worth comparing, of whatever preset.
RECORDS = {
    "runs/*": (RunSpec, training_work),
    "recordings/*": (RunSpec, training_work),
    "kernels/*": (KernelSpec, kernel_work),
    "measures/*/*": (MeasureSpec, measure_work),
}


def made_here():
    """Every training, kernel and measure that was made in this checkout, by whatever preset."""
    for pattern, (spec, work) in RECORDS.items():
        for provenance in sorted(RESULTS.glob(f"{pattern}/provenance.json")):
            told = json.loads(provenance.read_text(encoding="utf-8"))["spec"]
            try:
                alike = work(spec.model_validate(told))
            except ValidationError:  # made by an older flatlas
                continue
            yield costs.Job(**asdict(alike), **costs.measured(provenance))


with Job(globals().get("snakemake"), "costs") as job:
    jobs = costs.jobs_from(job.params.jobs)
    known = [*made_here(), *(one for one in jobs.values() if one.made)]
    guesses = costs.estimates(jobs, known)
    targets = costs.cost_of_targets(jobs, job.params.targets, guesses)
    studies = {study: job.params.targets[study] for study in job.params.studies}
    measures = costs.cost_of_measures(jobs, studies, guesses)
    write_table(job.output.csv, targets)
    write_table(job.output.measures, measures)
    told = f"{costs.readable_measures(measures)}\n\n{costs.readable(targets)}\n"
    with replacing(job.output.txt) as temporary:
        temporary.write_text(told, encoding="utf-8")
    print(told)
