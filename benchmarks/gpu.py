"""A GPU's operations per second in training and in Hessian products of `paper`'s large networks.

It writes docs/made/gpu.csv, from which `make docs` makes the tables of docs/scale.md. Operations
are counted as in large_nets.csv: divided by a rate, they give seconds. A training is timed as a job
runs it, with its evaluations; images are noise.
"""

import csv
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from large_nets import GPU_RATES, Rates, gradients, large_runs, net_of, operations_of_epoch

from flatlas.data.samples import Samples
from flatlas.device import choose_device
from flatlas.hessian import hessian_of
from flatlas.hessian.loss import flattened
from flatlas.nets import build_net
from flatlas.plan.training_specs import RunSpec
from flatlas.store.atomic import replacing
from flatlas.training.resume import Resume
from flatlas.training.trainer import Trainer

# Steps of a training's epoch, and its test images.
STEPS, TESTED = 8, 500


def main() -> None:
    """Write the table, and print it."""
    device = choose_device(wanted=True)
    if device == "cpu":
        sys.exit("gpu: torch sees no GPU, so there is nothing to measure.")
    with replacing(GPU_RATES) as temporary, temporary.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["net", "images", "gpu", *Rates._fields])
        for net, run in large_runs().items():
            rates = Rates(
                training(run, device),
                training(run.model_copy(update={"precision": "bfloat16"}), device),
                products(run, device, torch.float64),
                products(run, device, torch.float32),
            )
            writer.writerow(
                [*net, torch.cuda.get_device_name(), *(f"{number:.4g}" for number in rates)]
            )
            peak = torch.cuda.max_memory_allocated() / 1e9
            torch.cuda.reset_peak_memory_stats()
            listed = ", ".join(
                f"{name} {rate / 1e12:.2f}" for name, rate in rates._asdict().items()
            )
            print(f"{net[0]:24} 10^12 a second: {listed}; peak {peak:.1f} GB", flush=True)


def training(run: RunSpec, device: str) -> float:
    """Operations per second in an epoch, after a first epoch that is not timed."""
    learners = run.learner_count
    steps = 1 if learners > 1 else STEPS
    trained = steps * run.batch * learners
    stop = run.stop.model_copy(update={"epochs": 10, "extra_epochs": 0})
    alone = run.model_copy(update={"seeds": (0,), "stop": stop})
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(alone, noise(run, trained), Resume(Path(folder)), device)
        seconds = _seconds(trainer.epoch)
    if not trainer.stack.members:
        sys.exit(f"gpu: {run.net.slug} diverged on noise, so nothing was measured.")
    one = gradients()[net_of(run)]
    return operations_of_epoch(run, one, trained, trained + TESTED) / seconds


def products(run: RunSpec, device: str, precision: torch.dtype) -> float:
    """Operations per second in a Hessian product, which counts as two gradients."""
    net = build_net(run.net, run.input_shape, run.outputs)
    parameters = {name: one.to(device, torch.float64) for name, one in net.initial([0]).items()}
    samples = noise(run, net.at_once(torch.device(device)))
    inputs, labels = (torch.from_numpy(one).to(device) for one in (samples.inputs, samples.labels))
    hessian = hessian_of(net, parameters, inputs.double(), labels, precision)
    (w,) = flattened(net, parameters)
    vector = torch.randn_like(w).unsqueeze(0)
    seconds = _seconds(lambda: hessian.product(vector))
    return 2 * inputs.shape[1] * gradients()[net_of(run)].operations / seconds


def noise(run: RunSpec, trained: int) -> Samples:
    """Samples of noise: images to train on, and TESTED others for testing."""
    random, classes = np.random.default_rng(0), max(run.outputs, 2)

    def drawn(count: int) -> tuple[np.ndarray, np.ndarray]:
        images = random.random((1, count, *run.input_shape), dtype=np.float32)
        return images, random.integers(classes, size=(1, count))

    (inputs, labels), (tests, test_labels) = drawn(trained), drawn(TESTED)
    return Samples((0,), inputs, labels, np.ones_like(labels, dtype=bool), tests, test_labels)


def _seconds(work: Callable[[], object]) -> float:
    """The time of one call, after another that starts the GPU's libraries."""
    work()
    torch.cuda.synchronize()
    began = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - began
