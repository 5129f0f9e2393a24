"""How much work a job is, to estimate the time of one job from the time of another.

A unit of work is one image of one realization in one epoch, or at one moment of a measure. Only
jobs that do the same with the same kind of net are compared. A net that is worth a GPU is of a kind
of its own: the time of a small net on a core says nothing about it.
"""

from dataclasses import dataclass

from flatlas.plan.data_specs import (
    FunctionsSpec,
    SamplesSpec,
    images_seen,
    images_to_train_on,
    images_trained,
)
from flatlas.plan.families.own import Own
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.measurements.curvature import Sharpness
from flatlas.plan.measurements.functions import GpPrior
from flatlas.plan.needs import worth_a_gpu
from flatlas.plan.training_specs import RunSpec

# What ends the stage of jobs with a net that is worth a GPU.
LARGE = " (large net)"


@dataclass(frozen=True)
class Work:
    """Jobs of one `stage` and `net` are comparable; `units` says how much larger one is."""

    stage: str
    net: str
    units: float


def training_work(run: RunSpec) -> Work:
    """Every realization counts with all the epochs that it may take, each evaluation with one."""
    epochs = run.stop.epochs + run.stop.extra_epochs or 1
    units = len(run.seeds) * epochs * images_trained(run.samples)
    return _work("train", run, run.outputs, units)


def slowness(run: RunSpec) -> int:
    """Of two trainings the one with the larger number is likely to take longer.

    Their rule is met after many steps if these are small, and minibatches of many images take few
    steps in an epoch.
    """
    batch = images_to_train_on(run.samples) if run.batch == "full" else run.batch
    return round(batch / run.optimizer.lr)


def measure_work(measured: MeasureSpec) -> Work:
    """A measure of every realization at each of its moments.

    The algorithms for the sharpness differ by a factor of ten, so each is a stage of its own.
    Expectation propagation factorizes matrices with a row for each image.
    """
    run, options = measured.run, measured.options
    images = images_seen(run.samples)
    if isinstance(options, GpPrior):
        images = images_seen(run.samples, options.test_images) ** 3
    units = len(run.seeds) * len(options.at) * images
    stage: str = options.measure
    if isinstance(options, Sharpness):
        stage += f" by {options.by}"
    return _work(stage, run, run.outputs, units)


def kernel_work(kernel: KernelSpec) -> Work:
    """As many random nets as images, on all images, for each draw of them."""
    units = len(kernel.samples.seeds) * images_seen(kernel.samples) ** 2
    return _work("kernel", kernel, 1, units)


def samples_work(samples: SamplesSpec) -> Work:
    """A table of indices; of functions, as many random nets as are drawn."""
    return Work(samples.rule, "", samples.draws if isinstance(samples, FunctionsSpec) else 1)


def _work(stage: str, of: RunSpec | KernelSpec, outputs: int, units: float) -> Work:
    """Of a user's own net it is unknown whether it is large."""
    large = worth_a_gpu(of.net.size(of.input_shape, outputs)) and not isinstance(of.net, Own)
    return Work(f"{stage}{LARGE if large else ''}", of.net.slug, units)
