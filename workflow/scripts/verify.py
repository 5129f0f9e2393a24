"""Check every result of a preset, byte for byte, and list what is damaged."""

from pathlib import Path

from flatlas.jobs.job import Job
from flatlas.errors import FlatlasError
from flatlas.store.provenance import verify

with Job(globals().get("snakemake"), "verification") as job:
    made = [[file for file in files if Path(file).exists()] for files in job.params.results]
    made = [files for files in made if files]
    damaged = []
    for done, files in enumerate(made, start=1):
        for file in files:
            try:
                verify(file)
            except FlatlasError as error:
                damaged.append(str(error))
        job.progress(done, len(made))
    if damaged:
        raise FlatlasError("\n  ".join([f"{len(damaged)} files are damaged:", *damaged]))
    print(f"All {sum(map(len, made))} files of {len(made)} results are what their jobs wrote.")
