"""Put the claims of one study together: a table, and a page."""

import pandas as pd

from flatlas.jobs.job import Job
from flatlas.scorecard.page import page
from flatlas.store.atomic import replacing
from flatlas.store.tables import read_table, write_table

with Job(globals().get("snakemake"), "scorecard") as job:
    claims = pd.concat([read_table(path) for path in job.input.claims], ignore_index=True)
    write_table(job.output.csv, claims)
    with replacing(job.output.html) as temporary:
        temporary.write_text(page(job.params.title, claims))
