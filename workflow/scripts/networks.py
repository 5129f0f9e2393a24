"""The measure table of the atlas, as parquet and CSV."""

from flatlas.jobs.job import Job
from flatlas.evidence.material import gather
from flatlas.store.tables import write_table
from flatlas.studies.atlas.networks import networks

with Job(globals().get("snakemake"), "networks") as job:
    spec = job.params.spec
    material = gather(vars(job.input), spec["points"])
    table = networks(material, spec["study"], spec["settings"], spec["types"])
    # Parquet stores these, so readers of the table know the options of each measure.
    table.attrs["options"] = spec["options"]
    write_table(job.output.parquet, table)
    write_table(job.output.csv, table)
    job.record(realizations=material.realizations())
