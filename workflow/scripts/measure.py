"""Take one measure of every realization of a run, at every moment that is asked for."""

from itertools import product

import pandas as pd
import torch

from flatlas.data.samples import load_samples
from flatlas.errors import FlatlasError
from flatlas.jobs.job import Job
from flatlas.measures import measure
from flatlas.measures.solution import load_solution
from flatlas.nets import build_net
from flatlas.plan.measure_specs import MEASURES, MeasureSpec
from flatlas.store.arrays import read_arrays
from flatlas.store.provenance import write_provenance
from flatlas.store.tables import read_table, write_table
from flatlas.training.keepsakes import FINAL, checkpoint
from flatlas.training.outcome import DIVERGED

with Job(globals().get("snakemake"), "measure") as job:
    device = job.device
    spec = MeasureSpec.model_validate(job.params.spec)
    samples = load_samples(job.input.images, job.input.samples, spec.run.seeds)
    weights = read_arrays(job.input.weights)
    outcomes = read_table(job.input.outcomes).set_index("seed")
    net = build_net(spec.run.net, spec.run.input_shape, spec.run.outputs)
    options = spec.options.resolved()
    nothing = pd.DataFrame({"seed": [], "at": [], "epoch": []})
    nothing = nothing.astype({"seed": "int64", "at": "str", "epoch": "int64"})
    tables = {name: [nothing] for name in MEASURES[spec.options.measure].tables}
    moments = list(product(enumerate(spec.run.seeds), spec.options.at))
    for done, ((member, seed), at) in enumerate(moments, start=1):
        outcome = outcomes.loc[seed]
        # A diverged realization has no solution to measure, even if its weights are still numbers.
        if outcome["reason"] == DIVERGED:
            job.progress(done, len(moments), seed=seed, at=at, skipped="diverged")
            continue
        moment = FINAL if at == FINAL else checkpoint(at)
        solution = load_solution(weights, moment, member, samples.of(seed), net, device)
        taken = measure(spec.options.measure, solution, options)
        if set(taken) != set(tables):
            raise FlatlasError(
                f"{spec.options.measure} gives the tables {', '.join(taken)}; "
                f"its entry in MEASURES promises {', '.join(tables)}."
            )
        # One that had ended before a checkpoint keeps its final weights there.
        epoch = outcome["epoch"] if at == FINAL else min(at, outcome["epoch"])
        for name, table in taken.items():
            table.insert(0, "seed", seed)
            table.insert(1, "at", str(at))
            table.insert(2, "epoch", epoch)
            tables[name].append(table)
        job.progress(done, len(moments), seed=seed, at=at)
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
