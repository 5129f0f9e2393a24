"""Put claims together: a table, and a page. A figure without claims is one that is not drawn."""

import pandas as pd

from flatlas.jobs.job import Job
from flatlas.claims.claim import known, not_run
from flatlas.report.drawn import is_drawn, is_outdated, outdated, record
from flatlas.report.scorecard import Figure, Study, page
from flatlas.store.atomic import replacing
from flatlas.store.tables import read_table, write_table


def figure(study, told):
    name, title, file = told["name"], told["title"], told["files"]["claims"]
    if not is_drawn(told):
        return Figure(name, title, "", not_run(f"{study}_{name}", title))
    claims = known(read_table(file), file)
    if is_outdated(told, record(told)):
        claims = outdated(claims)
    return Figure(name, title, told["link"], claims)


with Job(globals().get("snakemake"), "scorecard") as job:
    studies = [
        Study(told["name"], told["title"], [figure(told["name"], one) for one in told["figures"]])
        for told in job.params.studies
    ]
    rows = [
        one.claims.assign(
            study=study.name, figure=one.name, scale=job.params.scale, picture=one.picture
        )
        for study in studies
        for one in study.figures
    ]
    write_table(job.output.csv, pd.concat(rows, ignore_index=True))
    with replacing(job.output.html) as temporary:
        temporary.write_text(page(job.params.title, job.params.scale, studies), encoding="utf-8")
