"""The groups in which the realizations of a run are trained and measured, each in a job."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from flatlas.plan.data_specs import AttackSpec, NoiseSpec, SamplesSpec, SubsetSpec
from flatlas.plan.training_specs import RunSpec


def groups_of(run: RunSpec, sizes: Sequence[int]) -> Iterator[RunSpec]:
    """The run with the realizations of each group; the whole run if there is only one."""
    if len(sizes) == 1:
        yield run
        return
    for first, end in pairwise(accumulate(sizes, initial=0)):
        yield with_seeds(run, run.seeds[first:end])


def with_seeds(run: RunSpec, seeds: tuple[int, ...]) -> RunSpec:
    """The run with some of its realizations, and so the run that it starts from."""
    start = run.start
    if start is not None:
        start = start.model_copy(update={"run": with_seeds(start.run, seeds)})
    samples = _draws(run.samples, seeds)
    return run.model_copy(update={"samples": samples, "seeds": seeds, "start": start})


def _draws(samples: SamplesSpec, seeds: tuple[int, ...]) -> SamplesSpec:
    """The samples of these realizations alone."""
    if isinstance(samples, NoiseSpec | AttackSpec):
        subset = _draws(samples.subset, seeds)
        return samples.model_copy(update={"subset": subset, "seeds": seeds})
    if isinstance(samples, SubsetSpec) and samples.split is None:
        return samples.model_copy(update={"seeds": seeds})
    return samples
