"""Put everything that a reader wants on one page. What is not drawn is left out, and told."""

import json
from os.path import relpath
from pathlib import Path

from flatlas.jobs.job import Job
from flatlas.report.captions import caption
from flatlas.report.costs import cost_of_stages, jobs_from
from flatlas.report.facts import facts
from flatlas.report.page import Change, Figure, Report, Study, read_picture, report
from flatlas.scorecard.claims import known, not_run
from flatlas.store.atomic import replacing
from flatlas.store.tables import read_table


def figure(told, folder):
    files, picture = told["files"], read_picture(told["picture"])
    claims = None
    if "claims" in files:
        drawn = picture and Path(files["claims"]).is_file()
        claims = (
            known(read_table(files["claims"]), files["claims"])
            if drawn
            else not_run(told["target"], told["title"])
        )
    if not picture:
        return Figure(
            told["target"], told["name"], told["title"], caption(told["caption"]), claims=claims
        )
    record = json.loads(Path(files["provenance"]).read_text(encoding="utf-8"))
    as_now = record["spec"]["points"] == json.loads(json.dumps(told["points"]))
    return Figure(
        told["target"],
        told["name"],
        told["title"],
        caption(told["caption"]),
        picture,
        facts(record["realizations"], told["data"], as_now),
        {Path(file).name: relpath(file, folder) for file in files.values()},
        claims,
        [Change(*change) for change in told["changes"]],
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
        scale=job.params.scale,
        judged=job.params.judged,
        studies=studies,
        stages=cost_of_stages(jobs_from(job.params.jobs)),
        dag=read_picture(job.input.dag),
        opening=job.params.opening,
    )
    with replacing(job.output.html) as temporary:
        temporary.write_text(report(told), encoding="utf-8")
