"""Trainings of dense nets: the trainer of this repository against one model at a time.

The plain way is what a research script does: a shuffling DataLoader, autograd, torch.optim, and an
evaluation of the whole training and test set after each epoch. It runs on one thread, its best
setting on matrices this small. The trainer runs on one thread, too, as in a job of the pipeline.

Images are noisy patterns of ten classes with MNIST's size, so no data set is needed. The work of a
step is the same as on MNIST, and nets need about as many epochs. Making the images is not timed.
"""

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from math import sqrt
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from flatlas.data.samples import Samples
from flatlas.plan.data_specs import Mnist, SubsetSpec
from flatlas.plan.training_specs import RunSpec
from flatlas.training.backend import backend_name, choose_kernel
from flatlas.training.resume import Resume
from flatlas.training.trainer import train

HARDNESS = 2.0


@dataclass(frozen=True)
class Task:
    """Nets to train: their number, their images, and when they stop."""

    seeds: int
    images: tuple[int, int]
    hidden: tuple[int, ...]
    batch: int
    optimizer: str
    rate: float
    epochs: int
    loss_below: float | None = None
    zero_error: bool = False
    binary: bool = False
    recorded: int = 0

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths of all layers."""
        return (784, *self.hidden, 1 if self.binary else 10)


DUALITY = Task(10, (4000, 2000), (30, 30), 25, "sgd", 0.1, epochs=2000, loss_below=1e-3)
OTHERS = {"momentum": 0.01, "adam": 1e-3, "rmsprop": 1e-3, "adagrad": 1e-2, "entropy_sgd": 1.0}
PRIOR = Task(
    5, (500, 1000), (40, 40), 32, "sgd", 0.01, epochs=5000, zero_error=True, binary=True
)  # fmt: skip
# One epoch, then ten in which the middle layer's weights are kept after every minibatch.
ANNEALING = Task(1, (60_000, 10_000), (50, 50), 50, "sgd", 0.1, epochs=1, recorded=10)
Way = Callable[[Task, range], list[int]]


def main() -> None:
    """Print seconds of the processor, epochs and the ratios."""
    print("ten nets of 784-30-30-10 to loss 1e-3", flush=True)
    one, _ = _compared(DUALITY, "at least 10, goal 15")
    two, _ = _timed(plain, DUALITY, 2)
    trainers, _ = _timed(trained, DUALITY, 2)
    without, _ = _timed(partial(trained, by_torch=True), DUALITY)
    print(f"  on two cores {one / trainers:.1f} times, where the plain way uses one,")
    print(f"  {two / trainers:.1f} times where it uses both; without a compiler")
    print(f"  {one / without:.1f} times on one core", flush=True)
    for name, rate in OTHERS.items():
        print(f"two such nets, 20 epochs of {name}", flush=True)
        other = replace(DUALITY, seeds=2, optimizer=name, rate=rate, epochs=20, loss_below=None)
        _compared(other, "at least 6, goal 10")
    print("five nets of 784-40-40-1, 500 images, to zero error (prior)", flush=True)
    _compared(PRIOR, "at least 8, goal 12")
    print("784-50-50-10, recorded, minibatches of 50 of 60,000 images (annealing)", flush=True)
    _compared(ANNEALING, "at least 6, goal 10")


def _compared(task: Task, wanted: str) -> tuple[float, float]:
    """Print and return the seconds of the plain way and of the trainer."""
    (one, epochs), (other, own) = _timed(plain, task), _timed(trained, task)
    print(f"  plain {one:6.1f} s, {epochs:.0f} epochs a net; trainer {other:6.2f} s, {own:.0f}")
    print(f"  the trainer is {one / other:.1f} times as fast on one core ({wanted})", flush=True)
    return one, other


def _timed(way: Way, task: Task, processes: int = 1) -> tuple[float, float]:
    """The processor seconds of the slowest process, without its start, and the mean epochs."""
    shares = [range(first, task.seeds, processes) for first in range(processes)]
    spawned = get_context("spawn")
    warm = partial(_warm, task)
    with ProcessPoolExecutor(processes, mp_context=spawned, initializer=warm) as pool:
        done = list(pool.map(partial(_clocked, way, task), shares))
    return max(seconds for seconds, _ in done), float(
        np.mean([epoch for _, epochs in done for epoch in epochs])
    )


def _clocked(way: Way, task: Task, seeds: range) -> tuple[float, list[int]]:
    began = time.process_time()
    epochs = way(task, seeds)
    return time.process_time() - began, epochs


def _warm(task: Task) -> None:
    """Make the images, and let every library do its one-time work."""
    torch.set_num_threads(1)
    for seed in range(task.seeds):
        drawn(task, seed)
    once = replace(task, epochs=1, recorded=0, zero_error=False, loss_below=None)
    small = replace(once, images=(100, 100))
    plain(small, range(1))
    trained(small, range(1))


def plain(task: Task, seeds: range) -> list[int]:
    """Train one model after the other; returns the epochs that each took."""
    return [_plain_training(task, seed) for seed in seeds]


def _plain_training(task: Task, seed: int) -> int:
    torch.manual_seed(seed)
    inputs, labels, test_inputs, test_labels = map(torch.from_numpy, drawn(task, seed))
    inputs, test_inputs = inputs.flatten(1), test_inputs.flatten(1)
    if task.binary:
        labels, test_labels = labels.float(), test_labels.float()
    model = _plain_model(task)
    optimizer = PLAIN[task.optimizer](model.parameters(), lr=task.rate)
    criterion = _binary_loss if task.binary else nn.CrossEntropyLoss()
    loader = DataLoader(TensorDataset(inputs, labels), batch_size=task.batch, shuffle=True)
    recording = []
    for epoch in range(1, task.epochs + task.recorded + 1):
        for batch, targets in loader:
            optimizer.zero_grad()
            criterion(model(batch), targets).backward()
            optimizer.step()
            if epoch > task.epochs:
                recording.append(model[2].weight.detach().clone())
        with torch.no_grad():
            logits, test_logits = model(inputs), model(test_inputs)
            loss, error = criterion(logits, labels).item(), _error(logits, labels)
            criterion(test_logits, test_labels).item()
            _error(test_logits, test_labels)
        if (task.loss_below and loss < task.loss_below) or (task.zero_error and error == 0):
            break
    return epoch


def _plain_model(task: Task) -> nn.Sequential:
    parts: list[nn.Module] = []
    for one, other in zip(task.widths, task.widths[1:], strict=False):
        layer = nn.Linear(one, other, bias=task.binary)
        if task.binary:
            nn.init.kaiming_normal_(layer.weight)
            nn.init.normal_(layer.bias)
        else:
            nn.init.xavier_uniform_(layer.weight)
        parts += [layer, nn.ReLU()]
    return nn.Sequential(*parts[:-1])


def _binary_loss(logits: Tensor, labels: Tensor) -> Tensor:
    return nn.functional.binary_cross_entropy_with_logits(logits[:, 0], labels)


def _error(logits: Tensor, labels: Tensor) -> float:
    found = logits[:, 0] > 0 if logits.shape[1] == 1 else logits.argmax(1)
    return (found != labels).float().mean().item()


class PlainEntropySgd(torch.optim.Optimizer):
    """Langevin steps around x, with the trainer's default options; every fifth step moves x."""

    def __init__(self, parameters: Any, lr: float) -> None:
        super().__init__(parameters, {"lr": lr})
        self.all = self.param_groups[0]["params"]
        self.outer, self.mean = ([p.detach().clone() for p in self.all] for _ in range(2))
        self.steps = 0

    @torch.no_grad()
    def step(self) -> None:
        for inner, outer, mean in zip(self.all, self.outer, self.mean, strict=True):
            inner.sub_(inner.grad + 1e-3 * (inner - outer), alpha=0.1)
            inner.add_(torch.randn_like(inner), alpha=sqrt(0.1) * 1e-4)
            mean.lerp_(inner, 0.25)
        self.steps += 1
        if self.steps % 5 == 0:
            for inner, outer, mean in zip(self.all, self.outer, self.mean, strict=True):
                outer.sub_(outer - mean, alpha=self.param_groups[0]["lr"])
                inner.copy_(outer)
                mean.copy_(outer)


PLAIN: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": torch.optim.SGD,
    "momentum": partial(torch.optim.SGD, momentum=0.9),
    "adam": torch.optim.Adam,
    "rmsprop": torch.optim.RMSprop,
    "adagrad": torch.optim.Adagrad,
    "entropy_sgd": PlainEntropySgd,
}


def trained(task: Task, seeds: range, by_torch: bool = False) -> list[int]:
    """Train by this repository's trainer on the same task; returns the epochs of each seed."""
    made = zip(*(drawn(task, seed) for seed in seeds), strict=True)
    inputs, labels, test_inputs, test_labels = (np.stack(arrays) for arrays in made)
    clean = np.ones_like(labels, dtype=bool)
    samples = Samples(tuple(seeds), inputs, labels, clean, test_inputs, test_labels)
    spec = _spec(task, seeds)
    kernel = None if by_torch else choose_kernel(spec, samples, "cpu", None)
    if not by_torch and kernel is None:
        print(f"  the trainer's way is {backend_name(kernel)}")
    with TemporaryDirectory() as folder:
        done = train(spec, samples, Resume(Path(folder)), lambda *_, **__: None, kernel=kernel)
    return [int(epoch) for epoch in done.outcomes["epoch"]]


def _spec(task: Task, seeds: range) -> RunSpec:
    xavier, he = {"scheme": "xavier_uniform"}, {"scheme": "he_normal"}
    stop = {"loss_below": task.loss_below, "zero_error": task.zero_error, "epochs": task.epochs}
    init = he if task.binary else xavier
    return RunSpec.model_validate(
        {
            "samples": SubsetSpec(
                source=Mnist(kind="mnist"), test_size=task.images[1], seeds=tuple(seeds)
            ),
            "net": {"family": "dense", "hidden": task.hidden, "bias": task.binary, "init": init},
            "optimizer": {"name": task.optimizer, "lr": task.rate},
            "batch": task.batch,
            "stop": {**stop, "extra_epochs": task.recorded},
            "snapshots": "fc2" if task.recorded else None,
            "input_shape": (1, 28, 28),
            "outputs": task.widths[-1],
            "seeds": tuple(seeds),
        }
    )


@cache
def drawn(task: Task, seed: int) -> tuple[np.ndarray, ...]:
    """Training images and labels, test images and labels; digits from 5 on are class 1 of two."""
    train, test = (_images([seed, part], count) for part, count in enumerate(task.images))
    if task.binary:
        return train[0], (train[1] > 4).astype(np.int64), test[0], (test[1] > 4).astype(np.int64)
    return (*train, *test)


def _images(seed: list[int], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Noisy copies of ten patterns, as hard to fit as MNIST: about as many epochs are needed."""
    patterns = np.random.default_rng(0).random((10, 784), dtype=np.float32)
    generator = np.random.default_rng(seed)
    labels = np.arange(count) % 10
    inputs = HARDNESS * generator.standard_normal((count, 784), dtype=np.float32)
    inputs += patterns[labels]
    np.clip(inputs, 0, 1, out=inputs)
    inputs *= generator.random((count, 784), dtype=np.float32) < 0.2
    return inputs.reshape(count, 1, 28, 28), labels.astype(np.int64)
