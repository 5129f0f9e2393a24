# The picture of the plan itself: which stages feed which figures.


rule dag:
    output:
        pdf=paths.DAG.format(preset=PLAN.preset, extension="pdf"),
        png=report(
            paths.DAG.format(preset=PLAN.preset, extension="png"),
            caption="../report/dag.rst",
            category="The pipeline",
            labels={"figure": "dag", "shows": "From data sets to figures"},
        ),
    log:
        paths.LOG.format(stage="figures", name=f"{PLAN.preset}_dag"),
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
