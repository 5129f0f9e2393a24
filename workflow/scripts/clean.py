"""Delete the results that one study has to itself, and say what stays."""

import shutil
from pathlib import Path

from flatlas.jobs.job import Job
from flatlas.plan.paths import RESULTS

with Job(globals().get("snakemake"), "cleaning") as job:
    own, shared = job.params.folders
    there = [Path(folder) for folder in own if Path(folder).is_dir()]
    for folder in there:
        assert folder.is_relative_to(RESULTS), folder
        shutil.rmtree(folder)
        job.logger.info("deleted %s", folder)
    kept = [folder for folder in shared if Path(folder).is_dir()]
    for folder in kept:
        job.logger.info("kept %s: another study or scale needs it", folder)
    print(
        f"Deleted {len(there)} folders of {job.params.study} at {job.params.preset} and kept "
        f"{len(kept)} that another study or scale needs, too; {job.log} names them. "
        "What was made with settings other than the present ones is kept, too."
    )
