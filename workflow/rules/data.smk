# Data: a source as arrays; subsets, attack sets, label noise and functions as tables of indices into
# it. Trainings wait for all of it, so it comes first.


rule source:
    """Internal: a data set as arrays."""
    input:
        unpack(lambda wildcards: inputs_of_source(wildcards.source)),
    output:
        **paths.OUTPUTS["source"],
    log:
        paths.LOG.format(stage="source", name="{source}"),
    cache: CACHE
    priority: 10**9
    conda:
        "../../envs/compute.yaml"
    resources:
        **memory_and_time(JOBS),
        # The place of the originals does not affect the result, so it is not a parameter.
        data_root=PLAN.data_root,
        data_root_from=lambda wildcards: where_set("data_root", config, workflow.configfiles),
    params:
        spec=lambda wildcards: JOBS[wildcards.source].spec,
        code=lambda wildcards: code_of(JOBS[wildcards.source]),
        originals=lambda wildcards: originals_of(wildcards.source),
    message:
        "Data source {wildcards.source}"
    script:
        "../scripts/source.py"


# Snakemake evaluates the path of a script once more when a job runs. There, `rule` is the name of
# the job's rule, so it must have the same name here.
for rule in paths.SAMPLING:

    rule:
        """Internal: which images of a data set, with which labels, each realization sees."""
        name:
            rule
        input:
            unpack(lambda wildcards: inputs_of(wildcards.samples)),
        output:
            **paths.SAMPLING[rule],
        log:
            paths.LOG.format(stage=rule, name="{samples}"),
        cache: CACHE
        priority: 10**9
        conda:
            "../../envs/compute.yaml"
        resources:
            **memory_and_time(JOBS),
        params:
            spec=lambda wildcards: JOBS[wildcards.samples].spec,
            code=lambda wildcards: code_of(JOBS[wildcards.samples]),
        message:
            f"{rule.capitalize().replace('_', ' ')} {{wildcards.samples}}"
        script:
            f"../scripts/{rule}.py"
