"""What the figures with large networks take at `paper`, on one GPU.

Operations follow from the plan and from large_nets.csv, the operations of a gradient of each
network, as counted by `python -m benchmarks large_nets`. Times follow from gpu.csv, the operations
of a GPU in a second, as measured by `python -m benchmarks gpu`.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from figures import jobs, needed, plan
from pages import table

from flatlas.plan.family import ModuleFamily
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.lookup import Job
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.needs import kernel_passes, measuring_passes
from flatlas.plan.source_sizes import images_seen, images_to_train_on
from flatlas.plan.training_specs import RunSpec
from flatlas.report.readable import duration

MEASURED, GPU_RATES = (Path(__file__).parent / f"{name}.csv" for name in ("large_nets", "gpu"))
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
    """For one image of a network: operations, memory of a gradient, speed of a core."""

    operations: float
    operations_forward: float
    kept_bytes: float
    core_operations_a_second: float


class Rates(NamedTuple):
    """Operations a second of a network on a GPU."""

    training: float
    training_bfloat16: float
    product_float64: float
    product_float32: float


class Takes(NamedTuple):
    """Operations, seconds and bytes on the GPU."""

    operations: float
    seconds: float
    memory: float


def large_runs() -> dict[Net, RunSpec]:
    """A run of each network that requests a GPU, by its slug and the shape of its images."""
    of_paper = jobs("paper")
    return {net_of(run): run for name, run in plan("paper").runs.items() if of_paper[name].gpus}


def net_of(spec: RunSpec | KernelSpec) -> Net:
    """The slug of a network and the shape of its images."""
    return spec.net.slug, "x".join(map(str, spec.input_shape))


@cache
def gradients() -> dict[Net, Gradient]:
    """What large_nets.csv has of each network."""
    return {net: Gradient(**row) for net, row in _rows_of(MEASURED)}


@cache
def _rates() -> dict[Net, Rates]:
    return {net: Rates(**row) for net, row in _rows_of(GPU_RATES)}


def _rows_of(file: Path) -> Iterator[tuple[Net, dict[str, float]]]:
    for row in pd.read_csv(file).drop(columns="gpu", errors="ignore").to_dict("records"):
        yield (row.pop("net"), row.pop("images")), row


def _takes(spec: Spec, job: Job) -> Takes:
    if isinstance(spec, RunSpec):
        return _of_training(spec, job)
    net = net_of(spec if isinstance(spec, KernelSpec) else spec.run)
    one, rates = gradients()[net], _rates()[net]
    if isinstance(spec, KernelSpec):
        operations = kernel_passes(spec) * one.operations_forward
        return Takes(operations, operations / rates.product_float64, 1e6 * job.mem_mb)
    operations = measuring_passes(spec) * one.operations
    single = spec.options.resolved().get("precision")
    rate = rates.product_float32 if single else rates.product_float64
    return Takes(operations, operations / rate, 1e6 * job.mem_mb)


def _of_training(run: RunSpec, job: Job) -> Takes:
    one, trained = gradients()[net_of(run)], images_to_train_on(run.samples)
    epochs = (run.stop.epochs + run.stop.extra_epochs) * len(run.seeds)
    operations = epochs * operations_of_epoch(run, one, trained, images_seen(run.samples))
    assert isinstance(run.batch, int)
    memory = 1e6 * job.mem_mb + run.batch * one.kept_bytes
    return Takes(operations, operations / _rates()[net_of(run)].training, memory)


def operations_of_epoch(run: RunSpec, one: Gradient, trained: int, seen: int) -> float:
    """The operations of a gradient for each training image, and of the passes that end an epoch.

    These are a pass of all images, and one of the training images for the statistics of batch norm.
    """
    evaluated = seen + trained * isinstance(run.net, ModuleFamily)
    return trained * one.operations + evaluated * one.operations_forward


def _rows() -> Iterator[list[str]]:
    """A row for each network of a figure, with the jobs that no earlier figure has."""
    paper, of_paper = plan("paper"), jobs("paper")
    specs: dict[str, Spec] = {**paper.runs, **paper.measurements, **paper.kernels}
    seen: set[str] = set()
    for target in paper.figures:
        names = [one for one in needed("paper")[target] if of_paper[one].gpus and one not in seen]
        seen.update(names)
        nets: dict[Net, list[tuple[Spec, Job]]] = {}
        for name in names:
            spec = specs[name]
            net = net_of(spec.run if isinstance(spec, MeasureSpec) else spec)
            nets.setdefault(net, []).append((spec, of_paper[name]))
        yield from (_row(target, net, own) for net, own in nets.items())


def _row(target: str, net: Net, own: Iterable[tuple[Spec, Job]]) -> list[str]:
    taken = [(spec, job, _takes(spec, job)) for spec, job in own]
    trainings = [one for one in taken if isinstance(one[0], RunSpec)]
    runs = [spec for spec, _, _ in trainings if isinstance(spec, RunSpec)]
    count = sum(len(run.seeds) for run in runs)
    epochs = max((run.stop.epochs for run in runs), default=0)
    measures = [one for one in taken if one not in trainings]
    operations = sum(one[2].operations for one in taken)
    return [
        f"`{target}`",
        NAMES[net[0]],
        f"{count} × {epochs}",
        f"{operations / 1e15:,.0f}",
        duration(sum(one[2].seconds for one in trainings)),
        duration(sum(one[2].seconds for one in measures)),
        f"{max(one[2].memory for one in taken) / 1e9:.0f} GB",
        f"{max(job.mem_mb for _, job, _ in taken) / 1e3:.0f} GB",
        f"{operations / gradients()[net].core_operations_a_second / 3.156e7:,.1f}",
    ]


def large_nets() -> str:
    """A row for each figure and network."""
    names = ["target", "network", "trainings × epochs", "10¹⁵ operations"]
    names += ["trainings", "measures", "on the GPU", "beside it", "core-years here"]
    return table(names, _rows())


def gpu_rates() -> str:
    """A row for each network, in 10¹² operations a second."""
    names = ["network", "images", "training", "in bfloat16", "products, float64", "float32"]
    rows = (
        [NAMES[net], images.replace("x", " × "), *(f"{rate / 1e12:.2g}" for rate in rates)]
        for (net, images), rates in _rates().items()
    )
    return table(names, rows)


LARGE_NETS = {"large-nets": large_nets, "gpu-rates": gpu_rates}
