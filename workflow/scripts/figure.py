"""Draw one figure and judge its claims; write every point in it and every run behind it."""

from flatlas.jobs.job import Job
from flatlas.claims.claim import claims_table
from flatlas.evidence.material import gather
from flatlas.plotting.style import add_note, mark_empty, save
from flatlas.store.tables import write_table
from flatlas.studies import load_figure

with Job(globals().get("snakemake"), "figure") as job:
    spec = job.params.spec
    material = gather(vars(job.input), spec["points"])
    figure = load_figure(spec["study"], spec["figure"], spec["module"])
    drawing = figure.draw(material)
    mark_empty(drawing.figure)
    if spec["shows"]:
        add_note(drawing.figure, spec["shows"])
    save(drawing, job.output)
    if hasattr(job.output, "claims"):
        target = f"{spec['study']}_{spec['figure']}"
        table = claims_table(target, figure.claims(material), job.params.judged)
        write_table(job.output.claims, table)
    job.record(realizations=material.realizations())
