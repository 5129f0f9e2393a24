"""All figures of a preset on one page; a figure that is not drawn is replaced by its command."""

from pathlib import Path

from flatlas.jobs.job import Job
from flatlas.report.costs import cost_of_stages
from flatlas.report.entries import read_report_entry
from flatlas.report.estimates import read_costs
from flatlas.report.pages import Chapter, Report, report_page
from flatlas.report.published import published
from flatlas.store.atomic import write_text

with Job(globals().get("snakemake"), "report") as job:
    folder = Path(job.output.html).parent
    chapters = [
        Chapter(
            study["name"],
            study["title"],
            [read_report_entry(figure, folder) for figure in study["figures"]],
            study["paper"],
        )
        for study in job.params.studies
    ]
    report = Report(
        preset=job.params.preset,
        scale=job.params.scale,
        judged=job.params.judged,
        chapters=chapters,
        stages=cost_of_stages(read_costs(job.params.jobs)),
        dag=Path(job.input.dag),
        published=published(map(Path, job.input.scorecards)),
        explorer=job.params.explorer,
    )
    write_text(job.output.html, report_page(report))
    job.record()
