"""Take one measure of every realization of a run."""

import pandas as pd
import torch

from flatlas.data.samples import load_samples
from flatlas.errors import FlatlasError
from flatlas.jobs.job import Job
from flatlas.measures import measure
from flatlas.measures.solution import is_finite, load_solution
from flatlas.nets import build_net
from flatlas.plan.measure_specs import MEASURES, MeasureSpec
from flatlas.store.arrays import read_arrays
from flatlas.store.provenance import write_provenance
from flatlas.store.tables import write_table

with Job(globals().get("snakemake"), "measure") as job:
    device = job.device
    spec = MeasureSpec.model_validate(job.params.spec)
    samples = load_samples(job.input.images, job.input.samples, spec.run.seeds)
    weights = read_arrays(job.input.weights)
    net = build_net(spec.run.net, spec.run.input_shape, spec.run.outputs)
    options = spec.options.resolved()
    # A diverged realization has no solution to measure; outcomes.csv has its name.
    nothing = pd.DataFrame({"seed": pd.Series(dtype="int64")})
    tables = {name: [nothing] for name in MEASURES[spec.options.measure].tables}
    for member, seed in enumerate(spec.run.seeds):
        if not is_finite(weights, member):
            job.progress(member + 1, len(spec.run.seeds), seed=seed, skipped="diverged")
            continue
        solution = load_solution(weights, member, samples.of(seed), net, device)
        taken = measure(spec.options.measure, solution, options)
        if set(taken) != set(tables):
            raise FlatlasError(
                f"{spec.options.measure} gives the tables {', '.join(taken)}; "
                f"its entry in MEASURES promises {', '.join(tables)}."
            )
        for name, table in taken.items():
            table.insert(0, "seed", seed)
            tables[name].append(table)
        job.progress(member + 1, len(spec.run.seeds), seed=seed)
    for name, parts in tables.items():
        write_table(getattr(job.output, name), pd.concat(parts, ignore_index=True))
    write_provenance(
        job.output.provenance,
        spec=job.params.spec,
        code=job.params.code,
        seconds=job.seconds,
        device=device,
        threads=torch.get_num_threads(),
    )
