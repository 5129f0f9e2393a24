"""List and delete results: those that one study has to itself, or those that none needs."""

import shutil
from pathlib import Path

from flatlas.jobs.job import Job
from flatlas.plan.deletion import would_delete
from flatlas.plan.paths import RESULTS

with Job(globals().get("snakemake"), "cleaning") as job:
    unneeded, shared = job.params.folders
    print(f"Deleting {would_delete(unneeded)}\n{job.params.note}", flush=True)
    for one in map(Path, unneeded):
        assert one.is_relative_to(RESULTS), one
        if one.is_dir():
            shutil.rmtree(one)
        else:
            one.unlink(missing_ok=True)
        job.logger.info("deleted %s", one)
    kept = [folder for folder in shared if Path(folder).is_dir()]
    for folder in kept:
        job.logger.info("kept %s: another study or scale needs it", folder)
    if kept:
        print(f"Kept {len(kept)} that another study or scale needs, too; {job.log} names them.")
