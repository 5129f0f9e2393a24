"""How much work a job is, to estimate the time of one job from the time of another.

A unit of work is one image of one realization in one epoch, or at one moment of a measure. Only
jobs that do the same with the same kind of net are compared.
"""

from dataclasses import dataclass

from flatlas.plan.data_specs import FunctionsSpec, SamplesSpec, images_seen, images_trained
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.measurements.curvature import Sharpness
from flatlas.plan.training_specs import RunSpec


@dataclass(frozen=True)
class Work:
    """Jobs of one `stage` and `net` are comparable; `units` says how much larger one is."""

    stage: str
    net: str
    units: float


def training_work(run: RunSpec) -> Work:
    """Every realization counts with all the epochs that it may take, each evaluation with one."""
    epochs = run.stop.epochs + run.stop.extra_epochs or 1
    return Work("train", run.net.slug, len(run.seeds) * epochs * images_trained(run.samples))


def measure_work(measured: MeasureSpec) -> Work:
    """A measure of every realization at each of its moments.

    The algorithms for the sharpness differ by a factor of ten, so each is a stage of its own.
    """
    run, options = measured.run, measured.options
    units = len(run.seeds) * len(options.at) * images_seen(run.samples)
    stage: str = options.measure
    if isinstance(options, Sharpness):
        stage += f" by {options.by}"
    return Work(stage, run.net.slug, units)


def kernel_work(kernel: KernelSpec) -> Work:
    """As many random nets as images, on all images, for each draw of them."""
    units = len(kernel.samples.seeds) * images_seen(kernel.samples) ** 2
    return Work("kernel", kernel.net.slug, units)


def samples_work(samples: SamplesSpec) -> Work:
    """A table of indices; of functions, as many random nets as are drawn."""
    return Work(samples.rule, "", samples.draws if isinstance(samples, FunctionsSpec) else 1)
