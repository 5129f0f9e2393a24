# Data: a source as four arrays; subsets, attack sets, label noise and functions as tables of indices
# into it. All of it goes before trainings, which wait for it.


rule source:
    output:
        images=paths.SOURCE.format(source="{source}", file="images.safetensors"),
        provenance=paths.SOURCE.format(source="{source}", file="provenance.json"),
    log:
        paths.LOG.format(stage="source", name="{source}"),
    cache: True
    priority: 2
    conda:
        "../../envs/compute.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
        # Where the originals lie says nothing about the result, so it is no parameter.
        data_root=PLAN["data_root"],
    params:
        spec=lambda wildcards: PLAN["sources"][wildcards.source]["spec"],
        code=lambda wildcards: stage_code("source", *PLAN["sources"][wildcards.source]["modules"]),
        originals=lambda wildcards: originals(
            PLAN["sources"][wildcards.source]["spec"], PLAN["data_root"]
        ),
    message:
        "Data source {wildcards.source}"
    script:
        "../scripts/source.py"


rule subset:
    input:
        images=lambda wildcards: PLAN["samples"][wildcards.samples]["input"]["images"],
    output:
        samples=paths.SUBSET.format(samples="{samples}", file="samples.parquet"),
        provenance=paths.SUBSET.format(samples="{samples}", file="provenance.json"),
    log:
        paths.LOG.format(stage="subset", name="{samples}"),
    cache: True
    priority: 2
    conda:
        "../../envs/compute.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        spec=lambda wildcards: PLAN["samples"][wildcards.samples]["spec"],
        code=lambda wildcards: stage_code("subset"),
    message:
        "Subset {wildcards.samples}"
    script:
        "../scripts/subset.py"


rule label_noise:
    input:
        subset=lambda wildcards: PLAN["samples"][wildcards.samples]["input"]["subset"],
    output:
        samples=paths.LABEL_NOISE.format(samples="{samples}", file="samples.parquet"),
        provenance=paths.LABEL_NOISE.format(samples="{samples}", file="provenance.json"),
    log:
        paths.LOG.format(stage="label_noise", name="{samples}"),
    cache: True
    priority: 2
    conda:
        "../../envs/compute.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        spec=lambda wildcards: PLAN["samples"][wildcards.samples]["spec"],
        code=lambda wildcards: stage_code("label_noise"),
    message:
        "Label noise {wildcards.samples}"
    script:
        "../scripts/label_noise.py"


rule attack_set:
    input:
        images=lambda wildcards: PLAN["samples"][wildcards.samples]["input"]["images"],
        subset=lambda wildcards: PLAN["samples"][wildcards.samples]["input"]["subset"],
    output:
        samples=paths.ATTACK_SET.format(samples="{samples}", file="samples.parquet"),
        provenance=paths.ATTACK_SET.format(samples="{samples}", file="provenance.json"),
    log:
        paths.LOG.format(stage="attack_set", name="{samples}"),
    cache: True
    priority: 2
    conda:
        "../../envs/compute.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        spec=lambda wildcards: PLAN["samples"][wildcards.samples]["spec"],
        code=lambda wildcards: stage_code("attack_set"),
    message:
        "Attack set {wildcards.samples}"
    script:
        "../scripts/attack_set.py"


rule functions:
    input:
        images=lambda wildcards: PLAN["samples"][wildcards.samples]["input"]["images"],
    output:
        samples=paths.FUNCTIONS.format(samples="{samples}", file="samples.parquet"),
        functions=paths.FUNCTIONS.format(samples="{samples}", file="functions.parquet"),
        provenance=paths.FUNCTIONS.format(samples="{samples}", file="provenance.json"),
    log:
        paths.LOG.format(stage="functions", name="{samples}"),
    cache: True
    priority: 2
    conda:
        "../../envs/compute.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(240),
    params:
        spec=lambda wildcards: PLAN["samples"][wildcards.samples]["spec"],
        code=lambda wildcards: stage_code(
            "functions", *PLAN["samples"][wildcards.samples]["modules"]
        ),
    message:
        "Functions of random nets {wildcards.samples}"
    script:
        "../scripts/functions.py"
