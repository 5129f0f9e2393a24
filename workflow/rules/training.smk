# Training: one job a run, all its realizations side by side.


rule train:
    input:
        unpack(lambda wildcards: PLAN["runs"][wildcards.run]["input"]),
    output:
        weights=paths.RUN.format(run="{run}", file="weights.safetensors"),
        history=paths.RUN.format(run="{run}", file="history.parquet"),
        outcomes=paths.RUN.format(run="{run}", file="outcomes.csv"),
        times=paths.RUN.format(run="{run}", file="times.csv"),
        provenance=paths.RUN.format(run="{run}", file="provenance.json"),
    log:
        paths.LOG.format(stage="train", name="{run}"),
    cache: True
    # The longest jobs, and all else waits for them: begun last, one of them alone would end the day.
    priority: 1
    conda:
        "../../envs/compute.yaml"
    threads: lambda wildcards: PLAN["runs"][wildcards.run]["ranks"]
    resources:
        **gpu_request(lambda wildcards: PLAN["runs"][wildcards.run]["gpus"], BY_GRES),
        # Processes, a learner each; they share out the work and give the same result.
        ranks=lambda wildcards: PLAN["runs"][wildcards.run]["ranks"],
        # Their GPUs, too, are those of one machine.
        nodes=1,
        mem_mb=lambda wildcards, attempt: attempt * PLAN["runs"][wildcards.run]["mem_mb"],
        runtime=lambda wildcards, attempt: attempt * PLAN["runs"][wildcards.run]["runtime"],
    params:
        spec=lambda wildcards: PLAN["runs"][wildcards.run]["spec"],
        code=lambda wildcards: stage_code("train", *PLAN["runs"][wildcards.run]["modules"]),
        # What is needed to go on after an interruption; Snakemake would delete it as an output.
        resume=lambda wildcards: paths.RESUME.format(run=wildcards.run),
    message:
        "Training {wildcards.run}"
    script:
        "../scripts/train.py"


# The same for runs that keep one layer's weights after every minibatch.
use rule train as record with:
    output:
        weights=paths.RECORDING.format(run="{run}", file="weights.safetensors"),
        history=paths.RECORDING.format(run="{run}", file="history.parquet"),
        outcomes=paths.RECORDING.format(run="{run}", file="outcomes.csv"),
        times=paths.RECORDING.format(run="{run}", file="times.csv"),
        provenance=paths.RECORDING.format(run="{run}", file="provenance.json"),
        trajectory=paths.RECORDING.format(run="{run}", file="trajectory.npy"),
    log:
        paths.LOG.format(stage="record", name="{run}"),
