"""Take one measure of every realization of a run, at every moment of its spec."""

from flatlas.jobs.job import Job
from flatlas.data.samples import load_samples
from flatlas.device import device_facts
from flatlas.measures import measure_each
from flatlas.measures.extra_inputs import ExtraInputs
from flatlas.measures.solution import load_solutions
from flatlas.measures.tables import joined
from flatlas.nets import build_net
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.store.arrays import read_arrays
from flatlas.store.tables import read_table, write_table
from flatlas.training.moments import kept_moments

with Job(globals().get("snakemake"), "measure") as job:
    device = job.device
    spec = MeasureSpec.model_validate(job.params.spec)
    samples = load_samples(job.input.images, job.input.samples, spec.run.seeds)
    weights = read_arrays(job.input.weights)
    outcomes = read_table(job.input.outcomes).set_index("seed")
    extra = ExtraInputs(job.input, spec.run)
    net = build_net(spec.run.net, spec.run.input_shape, spec.run.outputs)
    options = spec.options.resolved()
    tables = {name: [] for name in spec.options.tables}
    done, total = 0, len(spec.run.seeds) * len(spec.options.at)
    for member, seed in enumerate(spec.run.seeds):
        recorded = extra.trajectories is not None
        kept = kept_moments(spec.options.at, outcomes.loc[seed], recorded)
        if len(kept) < len(spec.options.at):
            reason = outcomes.loc[seed, "reason"]
            wanted = len(spec.options.at)
            job.logger.info("seed %d (%s) has %d of %d moments", seed, reason, len(kept), wanted)
        solutions = load_solutions(
            weights,
            [one.key for one in kept],
            member,
            samples.of(seed),
            net,
            device,
            **extra.of(member, seed),
        )
        for moment, taken in zip(
            kept, measure_each(spec.options.measure, solutions, options), strict=True
        ):
            for name, table in taken.items():
                table.insert(0, "seed", seed)
                table.insert(1, "at", moment.at)
                table.insert(2, "epoch", moment.epoch)
                tables[name].append(table)
            done += 1
            job.progress(done, total, seed=seed, at=moment.at)
    for name, parts in tables.items():
        write_table(getattr(job.output, name), joined(parts, spec.options.tables[name]))
    job.record(**device_facts(device))
