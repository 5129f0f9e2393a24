"""Draw one figure, and write every point in it and every run behind it."""

from importlib import import_module

from flatlas.figures.material import gather
from flatlas.figures.style import save
from flatlas.jobs.job import Job
from flatlas.store.provenance import write_provenance

with Job(globals().get("snakemake"), "figure") as job:
    material = gather(vars(job.input), job.params.points)
    draw = getattr(import_module(f"flatlas.figures.{job.params.study}"), job.params.figure)
    save(draw(material), job.output)
    write_provenance(
        job.output.provenance,
        spec={
            "study": job.params.study,
            "figure": job.params.figure,
            "points": job.params.points,
        },
        code=job.params.code,
        seconds=job.seconds,
        realizations=material.realizations(),
    )
