# `clean_<study>` deletes the results that only one study needs. What another study or another preset
# needs stays, and so do logs. `clean_unused` deletes the results that no study needs at any preset.

# The script works out from the settings what to delete. A list made here could be outdated, because other
# jobs of this call may run before the deletion.
SETTINGS = {"config": lambda wildcards: config, "root": str(CONFIG)}

for study in PLAN.studies:

    rule:
        """Deletes what only this study needs; -n lists it."""
        name:
            f"clean_{study}"
        log:
            paths.LOG.format(stage="cleaning", name=f"{PLAN.preset}_{study}"),
        localrule: True
        conda:
            "../../envs/figures.yaml"
        params:
            **SETTINGS,
            study=study,
            note="What was made with other settings is kept.",
        message:
            f"Deleting results that only {study} needs"
        script:
            "../scripts/clean.py"


rule clean_unused:
    """Deletes results that no preset needs, with the current settings; -n lists them."""
    log:
        paths.LOG.format(stage="cleaning", name="unused"),
    localrule: True
    conda:
        "../../envs/figures.yaml"
    params:
        **SETTINGS,
        study=None,
        note="Runs of another --configfile or --config count as unused: add it to keep them.",
    message:
        "Deleting what no study needs"
    script:
        "../scripts/clean.py"


# Snakemake's own check compares files, and these rules have none. Snakemake removes all locks when it ends,
# those of other calls too. So no call may clean while another runs.
CLEANING = {"clean_unused", *(f"clean_{study}" for study in PLAN.studies)}

if CLEANING & {*sys.argv} and not workflow.output_settings.dryrun:
    if any(Path(".snakemake/locks").glob("*.lock")):
        raise WorkflowError(
            "Nothing is deleted: another Snakemake works in this folder. Wait until it has ended. "
            "If there is none, an earlier one was killed: `snakemake --unlock`."
        )
