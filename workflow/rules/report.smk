# The picture of the plan itself: which stages feed which figures.


rule dag:
    output:
        pdf=f"results/{PLAN.preset}/dag.pdf",
        png=report(
            f"results/{PLAN.preset}/dag.png",
            caption="../report/dag.rst",
            category="The pipeline",
            labels={"figure": "dag", "shows": "From data sets to figures"},
        ),
    log:
        f"results/logs/figures/{PLAN.preset}_dag.log",
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        stages=stages(PLAN),
        code=stage_code("dag"),
    message:
        "The DAG of the plan"
    script:
        "../scripts/dag.py"
