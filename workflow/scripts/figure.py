"""Draw one figure and judge its claims; write every point in it and every run behind it."""

from importlib import import_module

from flatlas.jobs.job import Job
from flatlas.evidence.material import gather
from flatlas.plotting.style import save
from flatlas.claims.claim import claims_table
from flatlas.store.provenance import write_provenance
from flatlas.store.tables import write_table

with Job(globals().get("snakemake"), "figure") as job:
    spec = job.params.spec
    material = gather(vars(job.input), spec["points"])
    name = f"{spec['study']}.{spec['figure']}"
    save(import_module(f"flatlas.figures.{name}").draw(material), job.output)
    if hasattr(job.output, "claims"):
        claims = import_module(f"flatlas.scorecard.{name}").judge(material)
        target = name.replace(".", "_")
        write_table(job.output.claims, claims_table(target, claims, job.params.judged))
    write_provenance(
        job.output.provenance,
        spec=spec,
        code=job.params.code,
        seconds=job.seconds,
        realizations=material.realizations(),
    )
