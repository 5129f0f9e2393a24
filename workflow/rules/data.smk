# Data: a source as arrays; subsets, attack sets, label noise and functions as tables of indices into
# it. Trainings wait for all of it, so it comes first.


rule source:
    output:
        **paths.OUTPUTS["source"],
    log:
        paths.LOG.format(stage="source", name="{source}"),
    cache: True
    priority: 2
    conda:
        "../../envs/compute.yaml"
    threads: 1
    resources:
        **asked(JOBS),
        # Where the originals lie says nothing about the result, so it is no parameter.
        data_root=PLAN.data_root,
    params:
        spec=lambda wildcards: JOBS[wildcards.source].spec,
        code=lambda wildcards: stage_code("source", *JOBS[wildcards.source].modules),
        originals=lambda wildcards: originals(JOBS[wildcards.source].spec, PLAN.data_root),
    message:
        "Data source {wildcards.source}"
    script:
        "../scripts/source.py"


DRAWN = {
    "subset": "Subset",
    "label_noise": "Label noise",
    "attack_set": "Attack set",
    "functions": "Functions of random nets",
}

for kind, title in DRAWN.items():

    rule:
        name:
            kind
        input:
            unpack(lambda wildcards: JOBS[wildcards.samples].inputs),
        output:
            **paths.OUTPUTS[kind],
        log:
            paths.LOG.format(stage=kind, name="{samples}"),
        cache: True
        priority: 2
        conda:
            "../../envs/compute.yaml"
        threads: 1
        resources:
            **asked(JOBS),
        params:
            spec=lambda wildcards: JOBS[wildcards.samples].spec,
            code=lambda wildcards, kind=kind: stage_code(kind, *JOBS[wildcards.samples].modules),
        message:
            f"{title} {{wildcards.samples}}"
        script:
            f"../scripts/{kind}.py"
