"""What a job requests of a machine: GPUs, memory, minutes. Results do not depend on it."""

from collections.abc import Callable
from math import prod
from typing import TypedDict

from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import SamplesSpec, SubsetSpec
from flatlas.plan.families.own import Own
from flatlas.plan.family import NetSize
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.measure_specs import MeasureSpec, second_task
from flatlas.plan.measurements.duality import PAIRED
from flatlas.plan.source_sizes import images_in_epoch, images_seen, images_to_train_on
from flatlas.plan.training_specs import RunSpec

# From this many multiplications per image, a net requests a GPU; smaller nets are faster on a core.
# LeNets have three million at most, a PreResNet-20 on CIFAR forty, a ResNet-18 five hundred.
WORTH_A_GPU = 10**7
# Multiplications per second in training, forward and back: the lowest rate measured on a core
# (docs/scale.md). On an H200 trainings of large nets reach 2e12 to 4e12, PreResNet-164 only 3e11.
ON_A_CORE, ON_A_GPU = 10**9, 10**12
# More memory than any machine has for one job. Estimates are upper bounds, often several times too
# high.
MOST_MB = 20_000_000


class Needs(TypedDict):
    """The resources of a job."""

    gpus: int
    mem_mb: int
    runtime: int


def refuse_impossible(needs: Needs, place: Callable[[], str]) -> None:
    """Refuse a job that needs more memory than any machine has; `place` names job and setting."""
    if needs["mem_mb"] > MOST_MB:
        raise FlatlasError(
            f"{place()} would need about {needs['mem_mb'] // 1000:,} GB of memory. Allowed: up to "
            f"{MOST_MB // 1000:,} GB. Make the net smaller, or use fewer images, realizations, "
            "learners, checkpoints or eigenvalues."
        )


def training_needs(run: RunSpec, ranks: int = 1) -> Needs:
    """What a training requests, for its largest number of epochs and with `ranks` processes.

    The time is that of one process, whatever the number of processes.
    """
    net = run.net.size(run.input_shape, run.outputs)
    epochs = run.stop.epochs + run.stop.extra_epochs
    passes = epochs * len(run.seeds) * images_in_epoch(run.samples)
    return {
        "gpus": ranks * worth_a_gpu(net),
        "mem_mb": 2000 * ranks + 4 * _numbers_in_training(run, net, ranks) // 10**6,
        "runtime": 20 + _minutes(passes, net),
    }


def measuring_needs(measured: MeasureSpec) -> Needs:
    """What a measure requests, for all realizations at all moments, in float64.

    The images of all draws are in memory once, in float32; those of a second task, too.
    """
    run, options = measured.run, measured.options
    net = run.net.size(run.input_shape, run.outputs)
    numbers = options.matrices * images_seen(run.samples) ** 2 + options.vectors * net.weights
    numbers += _numbers_of_layer(measured)
    tasks = [samples for samples in (run.samples, second_task(measured)) if samples is not None]
    pixels = sum(_pixels(samples, run.input_shape, len(run.seeds)) for samples in tasks)
    return {
        "gpus": int(worth_a_gpu(net)),
        "mem_mb": 4000 + (8 * numbers + 4 * pixels) // 10**6,
        "runtime": options.runtime + _minutes(measuring_passes(measured), net),
    }


def measuring_passes(measured: MeasureSpec) -> int:
    """How many images go through the net, forward and back, each as often as it is read."""
    run, options = measured.run, measured.options
    return options.passes * len(options.at) * len(run.seeds) * images_seen(run.samples)


def kernel_needs(kernel: KernelSpec) -> Needs:
    """What a kernel requests. Its nets have one output.

    The matrix is in memory twice: the sum over nets, and a copy that is written to the disk. The
    images of all draws are in memory once.
    """
    net, images = kernel.net.size(kernel.input_shape, outputs=1), images_seen(kernel.samples)
    pixels = _pixels(kernel.samples, kernel.input_shape, len(kernel.samples.seeds))
    return {
        "gpus": int(worth_a_gpu(net)),
        "mem_mb": 4000 + (8 * 2 * images**2 + 4 * pixels) // 10**6,
        "runtime": 60 + _minutes(kernel_passes(kernel), net),
    }


def kernel_passes(kernel: KernelSpec) -> int:
    """How many images go through nets: a tenth as many random nets as images, for every draw."""
    return images_seen(kernel.samples) ** 2 * len(kernel.samples.seeds) // 10


def worth_a_gpu(net: NetSize) -> bool:
    """Whether jobs with this net request a GPU."""
    return net.products >= WORTH_A_GPU


def _minutes(passes: int, net: NetSize) -> int:
    """Minutes in which `passes` images go through a net, forward and back."""
    return passes * net.products // (60 * (ON_A_GPU if worth_a_gpu(net) else ON_A_CORE))


def _numbers_of_layer(measured: MeasureSpec) -> int:
    """How many numbers a measure holds for its layer: in matrices, and for each test image."""
    options, run = measured.options, measured.run
    matrices = options.layer_matrices
    if not matrices or isinstance(run.net, Own):
        # The size of a layer in a user's own net is unknown.
        return 0
    weights = run.net.weights_of(options.resolved()["layer"], run.input_shape, run.outputs)
    tested = images_in_epoch(run.samples) - images_to_train_on(run.samples)
    return weights * (matrices * weights + PAIRED * tested)


def _numbers_in_training(run: RunSpec, net: NetSize, ranks: int) -> int:
    """The numbers in memory: all images twice in each process, and ten copies of the weights.

    The ten copies are the iterate, its gradient, the optimizer's state, and the weights being
    saved. An average adds two, as it is in float64, and each kept moment one.
    """
    pixels = _pixels(run.samples, run.input_shape, len(run.seeds))
    copies = 10 + 2 * bool(run.average) + len(run.checkpoints) + len(run.overtraining)
    return 2 * ranks * pixels + copies * len(run.seeds) * run.learner_count * net.weights


def _pixels(samples: SamplesSpec, input_shape: tuple[int, int, int], seeds: int) -> int:
    """The pixels of all draws for so many seeds, as `load_samples` holds them in memory."""
    one_draw = isinstance(samples, SubsetSpec) and samples.split is not None
    return prod(input_shape) * images_in_epoch(samples) * (1 if one_draw else seeds)
