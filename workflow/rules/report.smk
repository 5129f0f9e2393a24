# What a reader opens: the picture of the plan, and the scorecards.


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
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        stages=stages(PLAN),
        code=stage_code("dag"),
    message:
        "The DAG of the plan"
    script:
        "../scripts/dag.py"


# The claims of each study with their verdicts, as `<study>_scorecard`.
for study, settings in PLAN.studies.items():
    if not PLAN.study_claims(study):
        continue

    rule:
        name:
            f"{study}_scorecard"
        input:
            claims=PLAN.study_claims(study),
        output:
            csv=PLAN.scorecard_file(study, "csv"),
            html=report(
                PLAN.scorecard_file(study, "html"),
                caption="../report/scorecard.rst",
                category=settings.title,
                labels={"figure": "scorecard", "shows": "Every claim and its verdict"},
            ),
        log:
            paths.LOG.format(stage="figures", name=f"{PLAN.preset}_{study}_scorecard"),
        conda:
            "../../envs/figures.yaml"
        threads: 1
        resources:
            mem_mb=growing(1000),
            runtime=growing(10),
        params:
            title=settings.title,
            scale=PLAN.scale.title,
            figures=[
                (PLAN.figures[target].name, PLAN.figures[target].title)
                for target in PLAN.targets(study)
                if "claims" in PLAN.figure_results(target)
            ],
            code=stage_code("scorecard"),
        message:
            f"Scorecard of {study}"
        script:
            "../scripts/scorecard.py"
