"""Give a fraction of a subset's training images a wrong label."""

from flatlas.jobs.job import Job
from flatlas.data.label_noise import mislabel
from flatlas.plan.data_specs import NoiseSpec
from flatlas.store.tables import read_table, write_table

with Job(globals().get("snakemake"), "label noise") as job:
    spec = NoiseSpec.model_validate(job.params.spec)
    write_table(job.output.samples, mislabel(read_table(job.input.subset), spec))
    job.record()
