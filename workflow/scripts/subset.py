"""Draw the training and test images of every realization."""

from flatlas.jobs.job import Job
from flatlas.data.images import read_labels
from flatlas.data.subset import draw_subsets
from flatlas.plan.data_specs import SubsetSpec
from flatlas.store.tables import write_table

with Job(globals().get("snakemake"), "subset") as job:
    spec = SubsetSpec.model_validate(job.params.spec)
    train_labels, test_labels = read_labels(job.input.images)
    write_table(job.output.samples, draw_subsets(train_labels, test_labels, spec))
    job.record()
