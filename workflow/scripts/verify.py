"""Check every result of a preset, byte for byte, and list what is damaged or missing."""

import os

from flatlas.jobs.job import Job
from flatlas.errors import FlatlasError
from flatlas.store.provenance import damage

with Job(globals().get("snakemake"), "verification") as job:
    results = job.params.results
    # One job writes all files of a result: if one of them exists, all must exist.
    made = [files for files in results if any(map(os.path.lexists, files))]
    if not made:
        raise FlatlasError(f"none of {len(results)} results exists, so there is nothing to check.")
    found = []
    for done, files in enumerate(made, start=1):
        found += map(str, damage(files))
        job.progress(done, len(made))
    if found:
        # Snakemake's last message repeats only the first line, so it must say the most.
        several = f"{len(found)} files are damaged. The first: "
        counted = several if len(found) > 1 else "1 file is damaged: "
        raise FlatlasError("\n  ".join([counted + found[0], *found[1:]]))
    print(f"All files of {len(made)} results are what their jobs wrote.")
    print(f"Results of the preset that are not made: {len(results) - len(made)}.")
