# What a reader opens: the picture of the plan, and the scorecards.


rule dag:
    output:
        pdf=PLAN.page_file("dag", "pdf"),
        png=report(
            PLAN.page_file("dag", "png"),
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


# The claims of each study with their verdicts, as `<study>_scorecard`, and of all on one page.
for study in judged_studies(PLAN):

    rule:
        name:
            f"{study}_scorecard"
        input:
            PLAN.study_claims(study),
        output:
            csv=PLAN.scorecard_file(study, "csv"),
            html=report(
                PLAN.scorecard_file(study, "html"),
                caption="../report/scorecard.rst",
                category=PLAN.studies[study].title,
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
            title=PLAN.studies[study].title,
            scale=PLAN.scale.title,
            studies=lambda wildcards, study=study: claims_of(
                PLAN, [study], PLAN.scorecard_file(study, "html")
            ),
            code=stage_code("scorecard"),
        message:
            f"Scorecard of {study}"
        script:
            "../scripts/scorecard.py"


rule scorecard:
    input:
        all_claims(PLAN) if PLAN.settings.complete else [],
    output:
        csv=PLAN.page_file("scorecard", "csv"),
        html=report(
            PLAN.page_file("scorecard", "html"),
            caption="../report/scorecard.rst",
            category="Scorecard",
            labels={"figure": "scorecard", "shows": "Every claim of every study"},
        ),
    log:
        paths.LOG.format(stage="figures", name=f"{PLAN.preset}_scorecard"),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        title="Flat minima: what was claimed of them",
        scale=PLAN.scale.title,
        studies=claims_of(PLAN, judged_studies(PLAN), PLAN.page_file("scorecard", "html")),
        written="" if PLAN.settings.complete else written(all_claims(PLAN)),
        code=stage_code("scorecard"),
    message:
        "Scorecard of all studies"
    script:
        "../scripts/scorecard.py"


# Everything on one page that fetches nothing. Snakemake's own report (--report) holds the same
# pictures and captions.
rule report:
    input:
        report_files(PLAN) if PLAN.settings.complete else [],
        dag=rules.dag.output.png,
    output:
        html=PLAN.page_file("report", "html"),
    log:
        paths.LOG.format(stage="figures", name=f"{PLAN.preset}_report"),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        preset=PLAN.preset,
        scale=PLAN.scale.title,
        judged=PLAN.judged,
        studies=lambda wildcards: report_studies(PLAN),
        jobs=lambda wildcards: told_jobs(PLAN),
        # The ranking of all measures, where there is one.
        opening="atlas_fig1",
        written=lambda wildcards: ([] if PLAN.settings.complete else written(report_files(PLAN))),
        code=stage_code("report"),
    message:
        "Report"
    script:
        "../scripts/report.py"


# Tells of what is there, and has nothing made: on the terminal, so not from a node of a cluster.
rule costs:
    output:
        csv=PLAN.page_file("costs", "csv"),
        txt=PLAN.page_file("costs", "txt"),
    log:
        paths.LOG.format(stage="figures", name=f"{PLAN.preset}_costs"),
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        jobs=lambda wildcards: told_jobs(PLAN),
        targets=lambda wildcards: jobs_of_targets(PLAN),
        written=lambda wildcards: written(job["provenance"] for job in told_jobs(PLAN).values()),
        code=stage_code("costs"),
    message:
        "Time and memory of each figure"
    script:
        "../scripts/costs.py"


# Two folders of results side by side: snakemake compare --config before=… after=… It tells on the
# terminal, too.
rule compare:
    output:
        csv=paths.COMPARISON.format(extension="csv"),
        html=paths.COMPARISON.format(extension="html"),
    log:
        paths.LOG.format(stage="figures", name="comparison"),
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        scorecards=scorecards(PLAN),
        written=lambda wildcards: written(filter(None, scorecards(PLAN))),
        code=stage_code("compare"),
    message:
        "Two scorecards side by side"
    script:
        "../scripts/compare.py"
