"""What a job asks of a machine: memory, minutes, a GPU. None of it defines a result."""

from math import prod

from flatlas.plan.data_specs import SubsetSpec, images_seen, images_trained
from flatlas.plan.families import NetSpec
from flatlas.plan.family import Shape
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.measure_specs import MEASURES, MeasureSpec
from flatlas.plan.training_specs import RunSpec

# From so many products an image on, a GPU is worth waiting for. LeNets have three million at most,
# a PreResNet-20 on CIFAR forty, a ResNet-18 five hundred.
WORTH_A_GPU = 10**7

# Products a second in training, forward and back: the least that was measured on a core
# (docs/scale.md). On a GPU nothing was measured here; a V100 is known to train ResNet-50 on 360
# images a second in float32, which are 1.5e12.
ON_A_CORE, ON_A_GPU = 10**9, 10**12


def gpus(net: NetSpec, input_shape: Shape, outputs: int) -> int:
    """A GPU for a process where the net is large; others are quicker on a core of their own."""
    return int(net.size(input_shape, outputs).products >= WORTH_A_GPU)


def training_minutes(run: RunSpec) -> int:
    """The time that all epochs would take, and some to begin and end."""
    epochs = run.stop.epochs + run.stop.extra_epochs
    passes = epochs * len(run.seeds) * images_trained(run.samples)
    return 20 + _minutes(passes, run.net, run.input_shape, run.outputs)


def measuring_minutes(measured: MeasureSpec) -> int:
    """What small nets were seen to take at most, and the time of all passes through the images."""
    run, options = measured.run, measured.options
    passes = options.passes * len(options.at) * len(run.seeds) * images_seen(run.samples)
    least = MEASURES[options.measure].runtime
    return least + _minutes(passes, run.net, run.input_shape, run.outputs)


def kernel_minutes(kernel: KernelSpec) -> int:
    """A tenth as many random nets as images see them all, for each draw of these."""
    passes = images_seen(kernel.samples) ** 2 * len(kernel.samples.seeds) // 10
    return 60 + _minutes(passes, kernel.net, kernel.input_shape, outputs=1)


def _minutes(passes: int, net: NetSpec, input_shape: Shape, outputs: int) -> int:
    """Of so many images going through a net, forward and back."""
    products = net.size(input_shape, outputs).products
    speed = ON_A_GPU if gpus(net, input_shape, outputs) else ON_A_CORE
    return passes * products // (60 * speed)


def training_memory(run: RunSpec, ranks: int = 1) -> int:
    """Megabytes: torch and all images as floats for each process, and the copies of the weights.

    Those are the iterate, its gradient, the optimizer's state, the average, what is just being
    saved, and a copy for each moment that is kept.
    """
    one_draw = isinstance(run.samples, SubsetSpec) and run.samples.split is not None
    draws = 1 if one_draw else len(run.seeds)
    pixels = prod(run.input_shape) * images_trained(run.samples) * draws
    learners = run.learners.count if run.learners else 1
    copies = 10 + len(run.checkpoints) + len(run.overtraining)
    kept = run.net.size(run.input_shape, run.outputs).weights * len(run.seeds) * learners * copies
    return 2000 * ranks + 4 * (2 * pixels * ranks + kept) // 10**6
