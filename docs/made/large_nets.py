"""What the figures with large networks take at `paper`, on one GPU.

Operations follow from the plan and from large_nets.csv: what a gradient of each network takes, as
`python -m benchmarks large_nets` counted and measured it.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from figures import needed, plan
from pages import table

from flatlas.plan.data_specs import images_seen, images_to_train_on
from flatlas.plan.family import ModuleFamily
from flatlas.plan.jobs import jobs_of
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.lookup import Job
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.training_specs import RunSpec
from flatlas.report.estimates import duration

MEASURED = Path(__file__).parent / "large_nets.csv"
# An A100 without tensor cores, as its data sheet has it: operations a second in float32 and
# float64. The share of them that trainings of such networks reach is assumed.
FLOAT32, FLOAT64, USED = 19.5e12, 9.7e12, 0.3
# What a second derivative holds beside what a gradient in float32 keeps, and in float64.
SECOND = 4
NAMES = {
    "convolutional": "All-CNN-C",
    "convolutional512x512": "VGG-16",
    "densenet6x12x24x16": "DenseNet-121",
    "preactivation164": "PreResNet-164",
    "preactivation28x10": "WideResNet-28-10",
    "resnet2x2x2x2": "ResNet-18",
    "resnet3x4x6x3": "ResNet-50",
}
Spec = RunSpec | MeasureSpec | KernelSpec
Net = tuple[str, str]


class Gradient(NamedTuple):
    """Of one image of a network: operations, what a gradient keeps, how fast a core is.

    `at_once` is how many images a measure takes at a time.
    """

    operations: float
    operations_forward: float
    kept_bytes: float
    at_once: int
    core_operations_a_second: float


class Takes(NamedTuple):
    """Operations in float32 and float64, and bytes on the GPU."""

    single: float
    double: float
    memory: float


def large_runs() -> dict[Net, RunSpec]:
    """A run of each network that requests a GPU, by its slug and the shape of its images."""
    return {net_of(run): run for name, run in plan("paper").runs.items() if _jobs()[name].gpus}


def net_of(spec: RunSpec | KernelSpec) -> Net:
    """The slug of a network and the shape of its images."""
    return spec.net.slug, "x".join(map(str, spec.input_shape))


@cache
def _jobs() -> dict[str, Job]:
    return jobs_of(plan("paper"))


@cache
def _gradients() -> dict[Net, Gradient]:
    rows = pd.read_csv(MEASURED).to_dict("records")
    return {(row.pop("net"), row.pop("images")): Gradient(**row) for row in rows}


def _takes(spec: Spec, job: Job) -> Takes:
    if isinstance(spec, RunSpec):
        return _of_training(spec, job)
    if isinstance(spec, KernelSpec):
        images, one = images_seen(spec.samples), _gradients()[net_of(spec)]
        nets = len(spec.samples.seeds) * images // 10
        return Takes(0, nets * images * one.operations_forward, 1e6 * job.mem_mb)
    options, run = spec.options, spec.run
    one = _gradients()[net_of(run)]
    images = options.passes * len(options.at) * len(run.seeds) * images_seen(run.samples)
    memory = 1e6 * job.mem_mb + SECOND * one.at_once * one.kept_bytes
    operations = images * one.operations
    single = bool(options.resolved().get("precision"))
    return Takes(single * operations, (not single) * operations, memory)


def _of_training(run: RunSpec, job: Job) -> Takes:
    """Each epoch ends with all images through the net, those of batch norm's statistics twice."""
    one, trained = _gradients()[net_of(run)], images_to_train_on(run.samples)
    seen = images_seen(run.samples) + trained * isinstance(run.net, ModuleFamily)
    epochs = (run.stop.epochs + run.stop.extra_epochs) * len(run.seeds)
    operations = epochs * (trained * one.operations + seen * one.operations_forward)
    assert isinstance(run.batch, int)
    return Takes(operations, 0, 1e6 * job.mem_mb + run.batch * one.kept_bytes)


def _rows() -> Iterator[list[str]]:
    """A row for each network of a figure, of the jobs that no figure before it has."""
    paper = plan("paper")
    specs: dict[str, Spec] = {**paper.runs, **paper.measurements, **paper.kernels}
    seen: set[str] = set()
    for target in paper.figures:
        names = [one for one in needed("paper")[target] if _jobs()[one].gpus and one not in seen]
        seen.update(names)
        nets: dict[Net, list[tuple[Spec, Job]]] = {}
        for name in names:
            spec = specs[name]
            net = net_of(spec.run if isinstance(spec, MeasureSpec) else spec)
            nets.setdefault(net, []).append((spec, _jobs()[name]))
        yield from (_row(target, net, jobs) for net, jobs in nets.items())


def _row(target: str, net: Net, jobs: Iterable[tuple[Spec, Job]]) -> list[str]:
    taken = [(spec, job, _takes(spec, job)) for spec, job in jobs]
    trainings = [one for one in taken if isinstance(one[0], RunSpec)]
    runs = [spec for spec, _, _ in trainings if isinstance(spec, RunSpec)]
    count = sum(len(run.seeds) for run in runs)
    epochs = max((run.stop.epochs for run in runs), default=0)
    measures = [one for one in taken if one not in trainings]
    single, double = (sum(one[2][n] for one in taken) for n in (0, 1))
    return [
        f"`{target}`",
        NAMES[net[0]],
        f"{count} × {epochs}",
        f"{(single + double) / 1e15:,.0f}",
        duration(_seconds(trainings)),
        duration(_seconds(measures)),
        f"{max(one[2].memory for one in taken) / 1e9:.0f} GB",
        f"{max(job.mem_mb for _, job, _ in taken) / 1e3:.0f} GB",
        f"{(single + double) / _gradients()[net].core_operations_a_second / 3.156e7:,.1f}",
    ]


def _seconds(taken: Iterable[tuple[Spec, Job, Takes]]) -> float:
    """On the GPU."""
    return sum((one.single / FLOAT32 + one.double / FLOAT64) / USED for _, _, one in taken)


def large_nets() -> str:
    """A row for each figure and network."""
    names = ["target", "network", "trainings × epochs", "10¹⁵ operations"]
    names += ["trainings", "measures", "on the GPU", "beside it", "core-years here"]
    return table(names, _rows())


LARGE_NETS = {"large-nets": large_nets}
