# Measures: one rule for each measure that flatlas/plan/measurements declares. A kernel that takes many
# random networks is sampled once for all measures that read it. The kernel begins first, beside the
# trainings: otherwise all these measures wait for one long job at the end.


rule kernel:
    """Internal: sample a kernel with random networks."""
    input:
        unpack(lambda wildcards: inputs_of(wildcards.kernel)),
    output:
        **paths.OUTPUTS["kernel"],
    log:
        paths.LOG.format(stage="kernel", name="{kernel}"),
    cache: CACHE
    priority: 10**9
    conda:
        "../../envs/compute.yaml"
    resources:
        **gpu_request(JOBS, BY_GRES),
        **memory_and_time(JOBS),
    params:
        spec=lambda wildcards: JOBS[wildcards.kernel].spec,
        code=lambda wildcards: code_of(JOBS[wildcards.kernel]),
    message:
        "Kernel {wildcards.kernel}"
    script:
        "../scripts/kernel.py"


for measure, outputs in PLAN.measures.items():

    rule:
        name:
            f"measure_{measure}"
        input:
            unpack(lambda wildcards: inputs_of(wildcards.measurement)),
        output:
            **outputs,
        log:
            paths.LOG.format(stage=f"measure_{measure}", name="{measurement}"),
        conda:
            "../../envs/compute.yaml"
        resources:
            **gpu_request(JOBS, BY_GRES),
            **memory_and_time(JOBS),
        params:
            spec=lambda wildcards: JOBS[wildcards.measurement].spec,
            code=lambda wildcards: code_of(JOBS[wildcards.measurement]),
        message:
            f"Measure {measure} of {{wildcards.measurement}}"
        script:
            "../scripts/measure.py"

    workflow.get_rule(f"measure_{measure}").docstring = f"Internal: {PLAN.meanings[measure]}"
