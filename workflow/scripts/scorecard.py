"""All claims of some studies, as a table and as a page."""

from pathlib import Path

import pandas as pd

from flatlas.jobs.job import Job
from flatlas.report.entries import read_entry
from flatlas.report.pages import Chapter, scorecard_page
from flatlas.store.atomic import write_text
from flatlas.store.tables import write_table

with Job(globals().get("snakemake"), "scorecard") as job:
    folder = Path(job.params.folder)
    chapters = [
        Chapter(
            study["name"],
            study["title"],
            [read_entry(figure, folder) for figure in study["figures"]],
        )
        for study in job.params.studies
    ]
    rows = [
        entry.claims.assign(
            study=chapter.name, figure=entry.name, scale=job.params.scale, picture=entry.link
        )
        for chapter in chapters
        for entry in chapter.entries
    ]
    write_table(job.output.csv, pd.concat(rows, ignore_index=True))
    write_text(job.output.html, scorecard_page(job.params.title, job.params.scale, chapters))
    job.record()
