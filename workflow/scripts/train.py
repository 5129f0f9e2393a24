"""Train the realizations of one run."""

from pathlib import Path

from flatlas.jobs.job import Job
from flatlas.device import device_facts, gpu_count, gpu_name, torch_threads
from flatlas.store.lock import only_process
from flatlas.store.tables import read_table
from flatlas.training import distributed
from flatlas.training.given_weights import advice
from flatlas.training.resume import Resume, identity
from flatlas.training.task import TrainingTask

# The lock: a training may outlive a killed Snakemake, and must not run twice.
with Job(globals().get("snakemake"), "training") as job, only_process(job.params.resume) as lock:
    device, ranks = job.device, job.resources["ranks"]
    gpus = gpu_count(device)
    # The weights of the run that this one starts from, if any.
    start = getattr(job.input, "start", None)
    files = sorted(vars(job.input).values())
    place = f"{gpu_name(device) or device} with {torch_threads()} threads"
    if ranks > 1:
        device = "cuda" if gpus >= ranks else "cpu"
        place = f"{device} with {ranks} ranks"
    task = TrainingTask(
        spec=job.params.spec,
        images=job.input.images,
        samples=job.input.samples,
        start=start,
        outputs=vars(job.output),
        resume=job.params.resume,
        identity=identity(job.params.spec, job.params.code, files),
        place=place,
    )
    if ranks > 1:
        job.logger.info("%d learners on %s", ranks, place)
        distributed.run(task, ranks, device == "cuda", job.progress, lock)
        backend = "torch"
    else:
        backend = task.run(device, job.progress)
    job.logger.info("backend: %s", backend)
    outcomes = read_table(job.output.outcomes)
    for reason, count in outcomes["reason"].value_counts().items():
        job.logger.info("%d of %d realizations: %s", count, len(outcomes), reason)
    warning = advice(job.params.spec, outcomes, read_table(job.output.history))
    if warning:
        job.warn(warning)
    facts = device_facts(device)
    if ranks > 1:
        # The memory of learners in separate processes is not measured.
        facts["gpu_memory_mib"] = None
    job.record(
        training_seconds=round(read_table(job.output.times).seconds.sum(), 3),
        **facts,
        kernel=backend,
        ranks=ranks,
        outcomes=outcomes.to_dict("records"),
    )
    Resume(Path(job.params.resume)).forget()
