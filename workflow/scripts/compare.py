"""Two scorecards side by side, as a table, as a page and on the terminal."""

from pathlib import Path

from flatlas.jobs.job import Job
from flatlas.claims.comparison import compare
from flatlas.errors import FlatlasError
from flatlas.report.comparison import comparison_page, summary
from flatlas.store.atomic import replacing
from flatlas.store.provenance import provenance_of, verify
from flatlas.store.tables import read_table, write_table

with Job(globals().get("snakemake"), "comparison") as job:
    if not all(job.params.scorecards):
        raise FlatlasError(
            "compare needs two folders of results, each with a scorecard.csv: "
            "snakemake compare --config before=results/laptop after=results/paper"
        )
    for path in job.params.scorecards:
        if not Path(path).is_file():
            raise FlatlasError(
                f"there is no {path}. `snakemake scorecard --config preset=… complete=false`"
                " writes one for the figures that are drawn."
            )
        # A copied scorecard may lie there alone.
        if provenance_of(Path(path)).exists():
            verify([path])
    compared = compare(*map(read_table, job.params.scorecards))
    write_table(job.output.csv, compared)
    with replacing(job.output.html) as temporary:
        temporary.write_text(comparison_page(compared, *job.params.scorecards), encoding="utf-8")
    print(summary(compared))
