"""Draw the plan: its stages, its jobs, and which stage needs which."""

from flatlas.jobs.job import Job
from flatlas.plotting.dag import draw_dag
from flatlas.plotting.style import save_picture

with Job(globals().get("snakemake"), "dag") as job:
    save_picture(draw_dag(job.params.stages), job.output.pdf, job.output.png)
    job.record()
