"""The amount of work of a job, to estimate its time from the time of another.

A unit of work is one image of one realization in one epoch, or at one moment of a measure. Only
jobs that do the same with the same kind of net are compared. Nets that request a GPU are a separate
kind: the time of a small net on a core says nothing about them.
"""

from dataclasses import dataclass

from flatlas.plan.data_specs import FunctionsSpec, SamplesSpec
from flatlas.plan.families.own import Own
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.measurements.curvature import Sharpness
from flatlas.plan.measurements.functions import GpPrior
from flatlas.plan.needs import worth_a_gpu
from flatlas.plan.source_sizes import images_in_epoch, images_seen
from flatlas.plan.training_specs import RunSpec

# How the stage's name ends if the jobs' net requests a GPU.
LARGE = " (large net)"
# The inverse of a tiny learning rate is infinite.
SLOWEST = 1e15


@dataclass(frozen=True)
class Work:
    """Jobs of one `stage` and `net` are comparable; `units` says how much larger one is."""

    stage: str
    net: str
    units: float


def training_work(run: RunSpec) -> Work:
    """Every realization counts its largest number of epochs, or one epoch if nothing is trained."""
    epochs = run.stop.epochs + run.stop.extra_epochs or 1
    units = len(run.seeds) * epochs * images_in_epoch(run.samples)
    return _work("train", run, run.outputs, units)


def slowness(run: RunSpec) -> int:
    """A number for sorting: the training with the larger one is likely to take longer.

    With small steps, the rule is met after many of them. With large minibatches, an epoch has few
    steps.
    """
    return round(min(run.minibatch / run.optimizer.lr, SLOWEST))


def measure_work(measured: MeasureSpec) -> Work:
    """A measure of every realization at each of its moments.

    The algorithms for the sharpness differ in time by a factor of ten, so each is a separate stage.
    Expectation propagation counts the cube of the images: it factorizes matrices of that size.
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
    """The square of the images, for each draw: a tenth as many random nets, each on all images."""
    units = len(kernel.samples.seeds) * images_seen(kernel.samples) ** 2
    return _work("kernel", kernel, 1, units)


def samples_work(samples: SamplesSpec) -> Work:
    """A table of indices; for functions, the random nets that are drawn."""
    return Work(samples.rule, "", samples.draws if isinstance(samples, FunctionsSpec) else 1)


def _work(stage: str, of: RunSpec | KernelSpec, outputs: int, units: float) -> Work:
    """The work at this stage. A user's own net counts as small: its size is unknown."""
    large = worth_a_gpu(of.net.size(of.input_shape, outputs)) and not isinstance(of.net, Own)
    return Work(f"{stage}{LARGE if large else ''}", of.net.slug, units)
