# Training: one job for each run, with all its realizations side by side. `record` is for runs that keep
# one layer's weights after every minibatch.

for kind in ("train", "record"):

    rule:
        """Internal: train all realizations of a run."""
        name:
            kind
        input:
            unpack(lambda wildcards: inputs_of(wildcards.run)),
        output:
            **paths.OUTPUTS[kind],
        log:
            paths.LOG.format(stage=kind, name="{run}"),
        cache: CACHE
        priority: lambda wildcards: JOBS[wildcards.run].priority
        conda:
            "../../envs/compute.yaml"
        threads: lambda wildcards: JOBS[wildcards.run].ranks
        resources:
            **gpu_request(JOBS, BY_GRES),
            **memory_and_time(JOBS),
            # One process for each learner. They share the work and give the same result.
            ranks=lambda wildcards: JOBS[wildcards.run].ranks,
            # All processes and their GPUs are on one machine.
            nodes=1,
        params:
            spec=lambda wildcards: JOBS[wildcards.run].spec,
            code=lambda wildcards: code_of(JOBS[wildcards.run]),
            # The state to resume from after an interruption. Snakemake would delete it as an output.
            resume=lambda wildcards: paths.RESUME.format(run=wildcards.run),
        message:
            "Training {wildcards.run}"
        script:
            "../scripts/train.py"
