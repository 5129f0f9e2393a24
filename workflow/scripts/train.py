"""Train the realizations of one run."""

from pathlib import Path

import torch

from flatlas.data.samples import load_samples
from flatlas.jobs.job import Job
from flatlas.plan.training_specs import RunSpec
from flatlas.store.arrays import read_arrays, write_arrays
from flatlas.store.provenance import write_provenance
from flatlas.store.tables import write_table
from flatlas.training.resume import Resume, identity
from flatlas.training.trainer import train

with Job(globals().get("snakemake"), "training") as job:
    device = job.device
    spec = RunSpec.model_validate(job.params.spec)
    samples = load_samples(job.input.images, job.input.samples, spec.seeds)
    # The run that this one starts from, where there is one.
    first = getattr(job.input, "start", None)
    start = None if first is None else read_arrays(first)
    files = (job.input.images, job.input.samples, *([] if first is None else [first]))
    where = f"{device}, {torch.get_num_threads()} threads"
    resumed = identity(job.params.spec, job.params.code, files, where)
    resume = Resume(Path(job.params.resume), resumed)
    trained = train(spec, samples, resume, job.progress, device, start)
    for reason, count in trained.outcomes["reason"].value_counts().items():
        job.logger.info("%d of %d realizations: %s", count, len(spec.seeds), reason)
    write_arrays(job.output.weights, trained.weights)
    write_table(job.output.history, trained.history)
    write_table(job.output.outcomes, trained.outcomes)
    write_table(job.output.times, trained.times)
    if trained.trajectory is not None:
        trained.trajectory.finish(Path(job.output.trajectory))
    write_provenance(
        job.output.provenance,
        spec=job.params.spec,
        code=job.params.code,
        seconds=job.seconds,
        training_seconds=round(trained.times.seconds.sum(), 3),
        device=device,
        threads=torch.get_num_threads(),
        outcomes=trained.outcomes.to_dict("records"),
    )
    resume.forget()
