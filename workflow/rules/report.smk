# The pages: the picture of the plan, the scorecards, the report, the costs, a comparison.

from flatlas.report.estimates import SHIPPED

SMALL = {"mem_mb": growing(1000), "runtime": growing(10)}
# Results on real data, which the repository publishes.
GALLERY = LIBRARY.parent / "docs" / "gallery"
PUBLISHED = GALLERY / paths.ATLAS / f"{paths.NETWORKS}.parquet"


rule dag:
    """Page: the plan as a picture."""
    input:
        lambda wildcards: inputs_of_page(PLAN.pages["dag"]["json"], []),
    output:
        pdf=PLAN.pages["dag"]["pdf"],
        png=report(
            PLAN.pages["dag"]["png"],
            caption="../report/dag.rst",
            category="The pipeline",
            labels={"figure": "dag", "shows": "From data sets to figures"},
        ),
        provenance=PLAN.pages["dag"]["json"],
    log:
        log_of("dag"),
    conda:
        "../../envs/figures.yaml"
    resources:
        **SMALL,
    params:
        stages=PLAN.picture,
        code=lambda wildcards: stage_code("dag"),
    message:
        "The DAG of the plan"
    script:
        "../scripts/dag.py"


# The claims of each study with their verdicts, as `<study>_scorecard`, and of all on one page. A
# page that does not wait for its figures reads only those that are drawn; a parameter with the time
# of their last write makes Snakemake remake the page when they change.
for name, page in scorecards(PLAN).items():

    rule:
        name:
            name
        input:
            lambda wildcards, page=page: inputs_of_page(
                page.files["json"], page.figures if waits(page) else []
            ),
        output:
            csv=page.files["csv"],
            html=report(
                page.files["html"],
                caption="../report/scorecard.rst",
                category=page.category,
                labels={"figure": "scorecard", "shows": page.shows},
            ),
            provenance=page.files["json"],
        log:
            log_of(name),
        conda:
            "../../envs/figures.yaml"
        resources:
            **SMALL,
        params:
            written=lambda wildcards, page=page: "" if waits(page) else written(page.figures),
            title=page.title,
            scale=PLAN.scale,
            # Links start from this folder, even when a scorecard is repeated by hand in another one.
            folder=lambda wildcards, page=page: str(Path(page.files["html"]).parent),
            studies=lambda wildcards, page=page: claims_of(PLAN, page.studies),
            code=lambda wildcards: stage_code("scorecard"),
        message:
            f"Scorecard of {page.of}"
        script:
            "../scripts/scorecard.py"

    workflow.get_rule(name).docstring = f"Page: the claims of {page.of}, with their verdicts."


# Everything on one page that works offline. Snakemake's own report (--report) has the same pictures
# and captions.
rule report:
    """Page: all figures, claims and costs."""
    input:
        lambda wildcards: inputs_of_page(
            PLAN.pages["report"]["json"], report_files(PLAN) if PLAN.complete else []
        ),
        dag=rules.dag.output.png,
        # If nothing is judged, the report opens with the claims that the galleries publish.
        scorecards=[] if PLAN.judged else sorted(map(str, GALLERY.glob("*/scorecard.csv"))),
        scales=[] if PLAN.judged else sorted(map(str, GALLERY.glob("*/*.yaml"))),
    output:
        html=PLAN.pages["report"]["html"],
        provenance=PLAN.pages["report"]["json"],
    log:
        log_of("report"),
    conda:
        "../../envs/figures.yaml"
    resources:
        **SMALL,
    params:
        preset=PLAN.preset,
        scale=PLAN.scale,
        judged=PLAN.judged,
        studies=lambda wildcards: report_studies(PLAN),
        jobs=lambda wildcards: recorded_jobs(PLAN),
        explorer="explorer.html" if "atlas_networks" in JOBS else "",
        written=lambda wildcards: ([] if PLAN.complete else written(report_files(PLAN))),
        code=lambda wildcards: stage_code("report"),
    message:
        "Report"
    script:
        "../scripts/report.py"


# The table of all networks of the atlas: the explorer reads it, and so may anyone who checks a coefficient.
if "atlas_networks" in JOBS:

    rule atlas_networks:
        """Page: the measure table, every network of the atlas with all measures."""
        input:
            unpack(lambda wildcards: inputs_of("atlas_networks")),
        output:
            **JOBS["atlas_networks"].outputs,
        log:
            log_of("atlas_networks"),
        conda:
            "../../envs/figures.yaml"
        resources:
            **request_of(JOBS["atlas_networks"]),
        params:
            spec=JOBS["atlas_networks"].spec,
            code=lambda wildcards: code_of(JOBS["atlas_networks"]),
        message:
            "The measure table"
        script:
            "../scripts/networks.py"


# The page of the user's own networks, if the configuration names any.
if "my_model" in PLAN.pages:
    MEASURED = JOBS["my_model_spectrum"]

    rule my_model_page:
        """Page: accuracy and measures of your own networks."""
        input:
            unpack(
                lambda wildcards: inputs_of_page(PLAN.pages["my_model"]["json"], MEASURED.inputs)
            ),
            # All networks have the same samples.
            samples=JOBS[MEASURED.spec["points"][0]["run"]].inputs["samples"],
            picture=MEASURED.outputs["png"],
        output:
            html=PLAN.pages["my_model"]["html"],
            csv=PLAN.pages["my_model"]["csv"],
            provenance=PLAN.pages["my_model"]["json"],
        log:
            log_of("my_model_page"),
        conda:
            "../../envs/figures.yaml"
        resources:
            **SMALL,
        params:
            spec=MEASURED.spec,
            caption=caption_of(PLAN.figures["my_model_spectrum"].caption),
            code=lambda wildcards: stage_code("my_model"),
        message:
            "My model"
        script:
            "../scripts/my_model.py"


# The same networks among those of the atlas, whose table its gallery publishes.
if f"{paths.ATLAS_MINE}_{paths.PLACE}" in JOBS:
    MINE = JOBS[f"{paths.ATLAS_MINE}_{paths.PLACE}"]

    rule atlas_mine_place:
        """Figure and page: your own networks among those of the atlas."""
        input:
            unpack(lambda wildcards: inputs_of(f"{paths.ATLAS_MINE}_{paths.PLACE}")),
            published=[str(PUBLISHED)] if PUBLISHED.is_file() else [],
        output:
            **MINE.outputs,
            html=PLAN.pages[paths.ATLAS_MINE]["html"],
            provenance_of_html=PLAN.pages[paths.ATLAS_MINE]["json"],
        log:
            log_of("atlas_mine_place"),
        conda:
            "../../envs/figures.yaml"
        resources:
            **request_of(MINE),
        params:
            spec=MINE.spec,
            caption=caption_of(PLAN.figures["atlas_mine_place"].caption),
            code=lambda wildcards: code_of(MINE),
        message:
            "My networks in the atlas"
        script:
            "../scripts/atlas_mine.py"


# Reports the costs of existing results and makes nothing else. Because it prints, it does not run on a
# cluster node.
rule costs:
    """Page: time by figure, study and measure."""
    input:
        lambda wildcards: inputs_of_page(PLAN.pages["costs"]["csv"], []),
    output:
        csv=PLAN.pages["costs"]["csv"],
        measures=PLAN.pages["costs_by_measure"]["csv"],
        jobs=PLAN.pages["costs_by_job"]["csv"],
        txt=PLAN.pages["costs"]["txt"],
    log:
        log_of("costs"),
    localrule: True
    conda:
        "../../envs/figures.yaml"
    resources:
        **SMALL,
    params:
        jobs=lambda wildcards: recorded_jobs(PLAN),
        preset=PLAN.preset,
        targets=PLAN.needed,
        studies=list(PLAN.studies),
        written=lambda wildcards: written(
            [*read_by_costs(PLAN), *sorted(SHIPPED.glob("*_jobs.csv"))]
        ),
        code=lambda wildcards: stage_code("costs"),
    message:
        "Time and memory of each figure, time by measure and study"
    script:
        "../scripts/costs.py"


# Checks every result of the preset against the checksums in its provenance. The rule makes no file, so it
# always runs.
rule verify:
    """Checks that all results are what their jobs wrote."""
    log:
        log_of("verify"),
    localrule: True
    conda:
        "../../envs/figures.yaml"
    resources:
        **SMALL,
    params:
        results=lambda wildcards: results_of(PLAN),
    message:
        "Checking all results"
    script:
        "../scripts/verify.py"


# Two folders of results side by side: snakemake compare --config before=… after=…
# `update` keeps the earlier comparison if the job fails.
rule compare:
    """Page: two scorecards side by side; needs --config before=DIR after=DIR."""
    input:
        lambda wildcards: inputs_of_page(paths.COMPARISON.format(extension="csv"), []),
    output:
        csv=update(paths.COMPARISON.format(extension="csv")),
        html=update(paths.COMPARISON.format(extension="html")),
    log:
        paths.LOG.format(stage="figures", name="comparison"),
    localrule: True
    conda:
        "../../envs/figures.yaml"
    resources:
        **SMALL,
    params:
        scorecards=compared(PLAN),
        presets=[str(paths.RESULTS / preset.stem) for preset in PRESETS],
        written=lambda wildcards: written(filter(None, compared(PLAN))),
        code=lambda wildcards: stage_code("compare"),
    message:
        "Two scorecards side by side"
    script:
        "../scripts/compare.py"
