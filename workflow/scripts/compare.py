"""Two scorecards side by side, as a table, as a page and on the terminal."""

from pathlib import Path

from flatlas.jobs.job import Job
from flatlas.claims.comparison import compare
from flatlas.errors import FlatlasError
from flatlas.report.comparison import comparison_page, read_scorecard, summary
from flatlas.store.atomic import write_text
from flatlas.store.tables import write_table

with Job(globals().get("snakemake"), "comparison") as job:
    if not all(job.params.scorecards):
        raise FlatlasError(
            "compare needs two folders of results, each with a scorecard.csv: "
            "snakemake compare --config before=results/laptop after=results/paper"
        )
    presets = [Path(folder) for folder in job.params.presets]
    compared = compare(*(read_scorecard(Path(path), presets) for path in job.params.scorecards))
    write_table(job.output.csv, compared)
    write_text(job.output.html, comparison_page(compared, *job.params.scorecards))
    print(f"{summary(compared)}\nThe page: {job.output.html}")
