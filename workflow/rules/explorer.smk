# The page of all networks of the atlas and all claims. Unlike the report it runs JavaScript.
if "atlas_networks" in JOBS:

    rule explorer:
        """Page: select and inspect networks, measures and claims."""
        input:
            networks=JOBS["atlas_networks"].outputs["parquet"],
            histories=lambda wildcards: JOBS["atlas_networks"].inputs["history"],
            claims=rules.scorecard.output.csv,
        output:
            html=PLAN.pages["explorer"]["html"],
            provenance=PLAN.pages["explorer"]["json"],
        log:
            log_of("explorer"),
        conda:
            "../../envs/figures.yaml"
        resources:
            **SMALL,
        params:
            preset=PLAN.preset,
            code=lambda wildcards: stage_code("explorer"),
        message:
            "Explorer"
        script:
            "../scripts/explorer.py"
