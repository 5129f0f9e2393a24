"""List and delete results: those that only one study needs, or that no study needs."""

from contextlib import ExitStack
from pathlib import Path

from flatlas.jobs.job import Job
from flatlas.plan.cleaning import deletable
from flatlas.plan.deletion import delete, existing, would_delete
from flatlas.plan.paths import RESUME
from flatlas.store.lock import only_process

with Job(globals().get("snakemake"), "cleaning") as job, ExitStack() as trainings:
    # Refuse to delete while a training runs, even on another machine.
    for lock in Path().glob(RESUME.format(run="*.lock")):
        trainings.enter_context(only_process(lock.with_suffix("")))
    unneeded, shared = deletable(job.params.config, Path(job.params.root), job.params.study)
    print(f"Deleting {would_delete(unneeded)}\n{job.params.note}", flush=True)
    for one in delete(unneeded):
        job.logger.info("deleted %s", one)
    kept = existing(shared)
    for folder in kept:
        job.logger.info("kept %s: another study or scale needs it", folder)
    if kept:
        print(f"Kept {len(kept)} that another study or scale needs too; {job.log} lists them.")
