"""Put everything that a reader wants on one page. What is not drawn is left out, and told."""

from os.path import relpath
from pathlib import Path

from flatlas.jobs.job import Job
from flatlas.claims.claim import known, not_run
from flatlas.report.captions import caption
from flatlas.report.costs import cost_of_stages, jobs_from
from flatlas.report.drawn import OUTDATED, is_drawn, is_outdated, record
from flatlas.report.facts import facts
from flatlas.report.page import Change, Figure, Report, Study, read_picture, report
from flatlas.store.atomic import replacing
from flatlas.store.tables import read_table


def figure(told, folder):
    files = told["files"]
    names = told["target"], told["name"], told["title"], caption(told["caption"])
    if not is_drawn(told):
        claims = not_run(told["target"], told["title"]) if "claims" in files else None
        return Figure(*names, claims=claims)
    drawn = record(told)
    old = is_outdated(told, drawn)
    return Figure(
        *names,
        read_picture(told["picture"]),
        facts(drawn["realizations"], told["data"], OUTDATED if old else ""),
        {Path(file).name: relpath(file, folder) for file in files.values()},
        known(read_table(files["claims"]), files["claims"]) if "claims" in files else None,
        # What is set now says nothing of what was drawn before.
        [] if old else [Change(*change) for change in told["changes"]],
    )


with Job(globals().get("snakemake"), "report") as job:
    folder = Path(job.output.html).parent
    studies = [
        Study(
            told["name"],
            told["title"],
            told["paper"],
            [figure(one, folder) for one in told["figures"]],
        )
        for told in job.params.studies
    ]
    told = Report(
        preset=job.params.preset,
        scale=job.params.scale,
        judged=job.params.judged,
        studies=studies,
        stages=cost_of_stages(jobs_from(job.params.jobs)),
        dag=read_picture(job.input.dag),
        opening=job.params.opening,
    )
    with replacing(job.output.html) as temporary:
        temporary.write_text(report(told), encoding="utf-8")
