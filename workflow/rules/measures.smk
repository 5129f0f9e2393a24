# Measures: one rule for each measure, made from its entry in flatlas/plan/measure_specs.py.

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
        threads: entry.threads
        resources:
            gpu=entry.gpu,
            mem_mb=entry.mem_mb,
            runtime=entry.runtime,
        params:
            spec=lambda wildcards: PLAN.measurements[wildcards.measurement].resolved(),
            code=lambda wildcards: measure_code(PLAN.measurements[wildcards.measurement]),
        message:
            f"Measure {measure} of {{wildcards.measurement}}"
        script:
            "../scripts/measure.py"
