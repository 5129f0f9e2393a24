"""How Snakemake is made to choose jobs."""

TOLD = """

onsuccess:
    print("jobs a second are limited by", workflow.scheduler.job_rate_limiter)
"""


def test_nothing_limits_how_many_jobs_begin_a_second_on_one_machine(demo):
    """What would limit them never rests, and the less so the more jobs there were."""
    with (demo / "Snakefile").open("a") as snakefile:
        snakefile.write(TOLD)
    (demo / "results/tiny/duality/s4.png").unlink()
    assert "jobs a second are limited by None" in demo.snakemake("duality_s4")
