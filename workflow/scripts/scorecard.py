"""Put the claims of one study together: a table, and a page."""

import pandas as pd

from flatlas.jobs.job import Job
from flatlas.scorecard.page import Figure, page
from flatlas.store.atomic import replacing
from flatlas.store.tables import read_table, write_table

with Job(globals().get("snakemake"), "scorecard") as job:
    figures = [
        Figure(name, title, read_table(path))
        for (name, title), path in zip(job.params.figures, job.input.claims, strict=True)
    ]
    claims = pd.concat([figure.claims for figure in figures], ignore_index=True)
    write_table(job.output.csv, claims)
    with replacing(job.output.html) as temporary:
        temporary.write_text(page(job.params.title, job.params.scale, figures), encoding="utf-8")
