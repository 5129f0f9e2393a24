# Measures: one rule for each measure that flatlas/plan/measurements declares. A kernel that takes many
# random networks is sampled first, once for all measures that read it.


rule kernel:
    input:
        unpack(lambda wildcards: PLAN["kernels"][wildcards.kernel]["input"]),
    output:
        kernel=paths.KERNEL.format(kernel="{kernel}", file="kernel.npy"),
        provenance=paths.KERNEL.format(kernel="{kernel}", file="provenance.json"),
    log:
        paths.LOG.format(stage="kernel", name="{kernel}"),
    cache: True
    conda:
        "../../envs/compute.yaml"
    threads: 1
    resources:
        **gpu_request(lambda wildcards: PLAN["kernels"][wildcards.kernel]["gpus"], BY_GRES),
        mem_mb=lambda wildcards, attempt: attempt * PLAN["kernels"][wildcards.kernel]["mem_mb"],
        runtime=lambda wildcards, attempt: attempt * PLAN["kernels"][wildcards.kernel]["runtime"],
    params:
        spec=lambda wildcards: PLAN["kernels"][wildcards.kernel]["spec"],
        code=lambda wildcards: stage_code("kernel", *PLAN["kernels"][wildcards.kernel]["modules"]),
    message:
        "Kernel {wildcards.kernel}"
    script:
        "../scripts/kernel.py"


for measure, tables in PLAN["measures"].items():

    rule:
        name:
            f"measure_{measure}"
        input:
            unpack(lambda wildcards: PLAN["measurements"][wildcards.measurement]["input"]),
        output:
            **{
                table: paths.MEASURE.format(
                    measure=measure, measurement="{measurement}", file=f"{table}.parquet"
                )
                for table in tables
            },
            provenance=paths.MEASURE.format(
                measure=measure, measurement="{measurement}", file="provenance.json"
            ),
        log:
            paths.LOG.format(stage=f"measure_{measure}", name="{measurement}"),
        conda:
            "../../envs/compute.yaml"
        threads: 1
        resources:
            **gpu_request(
                lambda wildcards: PLAN["measurements"][wildcards.measurement]["gpus"], BY_GRES
            ),
            mem_mb=lambda wildcards, attempt: attempt
            * PLAN["measurements"][wildcards.measurement]["mem_mb"],
            runtime=lambda wildcards, attempt: attempt
            * PLAN["measurements"][wildcards.measurement]["runtime"],
        params:
            spec=lambda wildcards: PLAN["measurements"][wildcards.measurement]["spec"],
            code=lambda wildcards: stage_code(
                "measure", *PLAN["measurements"][wildcards.measurement]["modules"]
            ),
        message:
            f"Measure {measure} of {{wildcards.measurement}}"
        script:
            "../scripts/measure.py"
