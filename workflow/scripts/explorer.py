"""One page on which a reader selects and inspects the atlas' networks and all claims."""

from pathlib import Path

from flatlas.jobs.job import Job
from flatlas.claims.written import read_claims
from flatlas.explorer.atlas import atlas_explorer
from flatlas.explorer.curves import learning_curves
from flatlas.explorer.page import explorer_page
from flatlas.store.atomic import write_text
from flatlas.store.tables import read_table

with Job(globals().get("snakemake"), "explorer") as job:
    explorer = atlas_explorer(
        read_table(job.input.networks),
        read_claims(job.input.claims),
        learning_curves(map(Path, job.input.histories)),
        job.params.preset,
        report="report.html",
    )
    write_text(job.output.html, explorer_page(explorer))
    job.record()
