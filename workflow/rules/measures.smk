# Measures: one rule for each measure, made from its entry in flatlas/plan/measure_specs.py. A kernel
# that takes many random nets is made before, once for all measures that read it.


rule kernel:
    input:
        unpack(lambda wildcards: PLAN.kernel_files(wildcards.kernel)),
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
        **gpu_request(lambda wildcards: PLAN.kernel_gpus(wildcards.kernel), BY_GRES),
        mem_mb=lambda wildcards, attempt: attempt * PLAN.kernel_memory(wildcards.kernel),
        runtime=lambda wildcards, attempt: attempt * PLAN.kernel_minutes(wildcards.kernel),
    params:
        spec=lambda wildcards: PLAN.kernels[wildcards.kernel].resolved(),
        code=lambda wildcards: kernel_code(PLAN.kernels[wildcards.kernel]),
    message:
        "Kernel {wildcards.kernel}"
    script:
        "../scripts/kernel.py"


for measure, entry in MEASURES.items():

    rule:
        name:
            f"measure_{measure}"
        input:
            unpack(lambda wildcards: PLAN.measure_files(wildcards.measurement)),
        output:
            **{
                table: paths.MEASURE.format(
                    measure=measure, measurement="{measurement}", file=f"{table}.parquet"
                )
                for table in entry.tables
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
            **gpu_request(lambda wildcards: PLAN.measure_gpus(wildcards.measurement), BY_GRES),
            mem_mb=lambda wildcards, attempt: attempt * PLAN.memory(wildcards.measurement),
            runtime=lambda wildcards, attempt: attempt
            * PLAN.measuring_minutes(wildcards.measurement),
        params:
            spec=lambda wildcards: PLAN.measurements[wildcards.measurement].resolved(),
            code=lambda wildcards: measure_code(PLAN.measurements[wildcards.measurement]),
        message:
            f"Measure {measure} of {{wildcards.measurement}}"
        script:
            "../scripts/measure.py"
