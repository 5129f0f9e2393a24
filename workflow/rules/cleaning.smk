# `clean_<study>` deletes the results that only one study needs. What another study or another preset
# needs stays, and so do logs. `clean_unused` deletes the results that no study needs at any preset.


def own_folders(study):
    # Imported here because only these targets need the models of the specs.
    from flatlas.plan.cleaning import own_and_shared
    from flatlas.plan.resolve import resolve

    try:
        return own_and_shared(resolve(config, CONFIG), study, config, CONFIG)
    except FlatlasError as error:
        raise WorkflowError(str(error)) from None


def unused_results():
    from flatlas.plan.cleaning import unused

    try:
        return unused(config, CONFIG), []
    except FlatlasError as error:
        raise WorkflowError(str(error)) from None


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
            folders=lambda wildcards, study=study: own_folders(study),
            note="What was made with other settings is kept.",
        message:
            f"Deleting what {study} has to itself"
        script:
            "../scripts/clean.py"


rule clean_unused:
    """Deletes results that no preset needs, with the settings as they are; -n lists them."""
    log:
        paths.LOG.format(stage="cleaning", name="unused"),
    localrule: True
    conda:
        "../../envs/figures.yaml"
    params:
        folders=lambda wildcards: unused_results(),
        note="Runs of another --configfile or --config count as unused: add it to keep them.",
    message:
        "Deleting what no study needs"
    script:
        "../scripts/clean.py"
