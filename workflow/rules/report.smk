# What a reader opens: the picture of the plan, and the scorecards.


rule dag:
    output:
        pdf=PLAN["pages"]["dag"]["pdf"],
        png=report(
            PLAN["pages"]["dag"]["png"],
            caption="../report/dag.rst",
            category="The pipeline",
            labels={"figure": "dag", "shows": "From data sets to figures"},
        ),
    log:
        paths.LOG.format(stage="figures", name=f"{PLAN['preset']}_dag"),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        stages=PLAN["stages"],
        code=lambda wildcards: stage_code("dag"),
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
            lambda wildcards, study=study: PLAN["studies"][study]["claims"],
        output:
            csv=PLAN["studies"][study]["scorecard"]["csv"],
            html=report(
                PLAN["studies"][study]["scorecard"]["html"],
                caption="../report/scorecard.rst",
                category=PLAN["studies"][study]["title"],
                labels={"figure": "scorecard", "shows": "Every claim and its verdict"},
            ),
        log:
            paths.LOG.format(stage="figures", name=f"{PLAN['preset']}_{study}_scorecard"),
        conda:
            "../../envs/figures.yaml"
        threads: 1
        resources:
            mem_mb=growing(1000),
            runtime=growing(10),
        params:
            title=PLAN["studies"][study]["title"],
            scale=PLAN["scale"],
            studies=lambda wildcards, study=study: claims_of(PLAN, [study]),
            code=lambda wildcards: stage_code("scorecard"),
        message:
            f"Scorecard of {study}"
        script:
            "../scripts/scorecard.py"


rule scorecard:
    input:
        lambda wildcards: all_claims(PLAN) if PLAN["complete"] else [],
    output:
        csv=PLAN["pages"]["scorecard"]["csv"],
        html=report(
            PLAN["pages"]["scorecard"]["html"],
            caption="../report/scorecard.rst",
            category="Scorecard",
            labels={"figure": "scorecard", "shows": "Every claim of every study"},
        ),
    log:
        paths.LOG.format(stage="figures", name=f"{PLAN['preset']}_scorecard"),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        title="What the papers claim about flat minima",
        scale=PLAN["scale"],
        studies=lambda wildcards: claims_of(PLAN, judged_studies(PLAN)),
        written="" if PLAN["complete"] else written(all_claims(PLAN)),
        code=lambda wildcards: stage_code("scorecard"),
    message:
        "Scorecard of all studies"
    script:
        "../scripts/scorecard.py"


# Everything on one page that fetches nothing. Snakemake's own report (--report) holds the same
# pictures and captions.
rule report:
    input:
        lambda wildcards: report_files(PLAN) if PLAN["complete"] else [],
        dag=rules.dag.output.png,
    output:
        html=PLAN["pages"]["report"]["html"],
    log:
        paths.LOG.format(stage="figures", name=f"{PLAN['preset']}_report"),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        preset=PLAN["preset"],
        scale=PLAN["scale"],
        judged=PLAN["judged"],
        studies=lambda wildcards: report_studies(PLAN),
        jobs=PLAN["jobs"],
        # The ranking of all measures, where there is one.
        opening="atlas_fig1",
        written=lambda wildcards: ([] if PLAN["complete"] else written(report_files(PLAN))),
        code=lambda wildcards: stage_code("report"),
    message:
        "Report"
    script:
        "../scripts/report.py"


# Tells of what is there, and has nothing made: on the terminal, so not from a node of a cluster.
rule costs:
    output:
        csv=PLAN["pages"]["costs"]["csv"],
        measures=PLAN["pages"]["costs_by_measure"]["csv"],
        txt=PLAN["pages"]["costs"]["txt"],
    log:
        paths.LOG.format(stage="figures", name=f"{PLAN['preset']}_costs"),
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        jobs=PLAN["jobs"],
        targets=PLAN["needed"],
        studies=list(PLAN["studies"]),
        written=lambda wildcards: written(job["provenance"] for job in PLAN["jobs"].values()),
        code=lambda wildcards: stage_code("costs"),
    message:
        "Time and memory of each figure, time by measure and study"
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
        code=lambda wildcards: stage_code("compare"),
    message:
        "Two scorecards side by side"
    script:
        "../scripts/compare.py"
