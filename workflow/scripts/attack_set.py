"""Add training images with wrong labels to a subset."""

from flatlas.jobs.job import Job
from flatlas.data.attack_set import draw_attack_sets
from flatlas.data.images import read_labels
from flatlas.plan.data_specs import AttackSpec
from flatlas.store.tables import read_table, write_table

with Job(globals().get("snakemake"), "attack set") as job:
    spec = AttackSpec.model_validate(job.params.spec)
    train_labels, _ = read_labels(job.input.images)
    attacked = draw_attack_sets(read_table(job.input.subset), train_labels, spec)
    write_table(job.output.samples, attacked)
    job.record()
