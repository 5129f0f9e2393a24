"""How much of task-1 a layer forgets while it learns a second task (§V, Fig. 4).

From a solution w1 of task-1, the layer's weights go on by SGD on the images of the second task, all
other layers as they are. A cost of leaving w1 holds them back: Eq. 15, or elastic weight
constraints in its place. Since all that enters the layer stays the same, every strength λ and
number N_c of constraints is followed at once, in one order of the images.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.data.samples import Samples
from flatlas.errors import FlatlasError
from flatlas.measures.constraints import Constraints, elastic, landscape_dependent
from flatlas.measures.solution import Solution
from flatlas.nets.loss import predictions, sample_losses
from flatlas.seeds import generator

# Looks at the test errors in an epoch.
LOOKS = 4
# An error is saturated in the last of so many parts of the looks, if its mean has moved by no more
# than this since the part before.
PARTS, TOLERANCE = 5, 0.01
# Images that are looked at at a time: what a hundred points make of so many fits a core's cache.
IMAGES = 50


@dataclass(frozen=True)
class Task:
    """What enters the layer (images, n_in) and the labels (images), for training or testing."""

    activity: Tensor
    labels: Tensor


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """A row for each λ (`strength`) and N_c (`directions`), λ = 0 with no direction held first.

    `errors` follows the test errors ε1 and ε2 of the two tasks over `time`, in epochs of task-2,
    and `loss_2` on its test images. `points` has their saturated values, means over the last fifth
    of the looks; `residual` is the most by which ε1 or ε2 has moved since the fifth before.
    `displacements` has q_i = |(w2 − w1)·p_i| of the last weights, and the `flatness` F_i, by
    `rank`; of single weights, where these are held.
    """
    layer = options["layer"]
    constraints = _constraints(solution, options)
    points = [(0.0, 0), *product(options["strengths"], options["directions"])]
    stack = _Stack(solution, layer, constraints, points, options["lr"])
    first = Task(solution.into(layer, solution.test_inputs)[0], solution.test_labels[0])
    second, test = _second_task(solution, layer)
    rows = [stack.look(0.0, first, test)]
    random = generator(solution.seed, "second task")
    for time in stack.learn(second, options["epochs"], options["batch"], random):
        rows.append(stack.look(time, first, test))
    errors = pd.concat(rows, ignore_index=True)
    told = {"method": options["method"]}
    steps = options["epochs"] * -(-len(second.labels) // options["batch"])
    return {
        "errors": errors.assign(**told),
        "points": saturated(errors).assign(iterations=steps, **told),
        "displacements": stack.displaced().assign(**told),
    }


def saturated(errors: DataFrame) -> DataFrame:
    """The means over the last part of the looks, and how they differ from the part before."""
    times = np.sort(errors["time"].unique())
    few = max(1, len(times) // PARTS)
    values = ["epsilon_1", "epsilon_2", "loss_2"]

    def means(some: np.ndarray) -> DataFrame:
        rows = errors[errors["time"].isin(some)]
        return rows.groupby(["strength", "directions"])[values].mean()

    last, before = means(times[-few:]), means(times[-2 * few : -few])
    moved = (last - before)[["epsilon_1", "epsilon_2"]].abs().max(axis=1)
    return last.assign(residual=moved, converged=moved <= TOLERANCE).reset_index()


class _Stack:
    """The displacements w − w1 of the layer's weights, a row for each (λ, N_c)."""

    def __init__(
        self,
        solution: Solution,
        layer: str,
        constraints: Constraints,
        points: list[tuple[float, int]],
        lr: float,
    ) -> None:
        """All start at w1."""
        self.net, self.layer, self.constraints, self.lr = solution.net, layer, constraints, lr
        self.points = points
        self.start = solution.parameters[f"{layer}.weight"]
        self.displacements = self.start.new_zeros(len(points), self.start.numel())
        self.parameters = {
            name: value.expand(len(points), *value.shape[1:])
            for name, value in solution.parameters.items()
        }
        strengths, counts = (self.start.new_tensor(one) for one in zip(*points, strict=True))
        self.tether = constraints.tether(strengths, counts, lr)

    def learn(
        self, task: Task, epochs: int, batch: int, random: np.random.Generator
    ) -> Iterator[float]:
        """SGD on a task; halts a few times an epoch and tells the time."""
        count = len(task.labels)
        steps = -(-count // batch)
        halts = {round(steps * part / LOOKS) for part in range(1, LOOKS + 1)}
        for epoch in range(epochs):
            order = torch.as_tensor(random.permutation(count), device=task.labels.device)
            for step, chosen in enumerate(order.split(batch), start=1):
                self._step(task.activity[chosen], task.labels[chosen])
                if step in halts:
                    yield epoch + step / steps

    def _step(self, activity: Tensor, labels: Tensor) -> None:
        z = self._preactivation(activity).requires_grad_()
        losses = self._losses(self.net.onward(self.parameters, z, self.layer), labels)
        (delta,) = torch.autograd.grad(losses.mean(1).sum(), z)
        self.displacements -= self.lr * (activity.T @ delta).flatten(1)
        self.tether(self.displacements)

    def _preactivation(self, activity: Tensor) -> Tensor:
        weights = self.start + self.displacements.view(-1, *self.start.shape[1:])
        parameters = {**self.parameters, f"{self.layer}.weight": weights}
        whole = activity.expand(len(weights), *activity.shape)
        return self.net.dense(self.layer).preactivation(parameters, whole)

    def _losses(self, logits: Tensor, labels: Tensor) -> Tensor:
        return sample_losses(logits, labels.expand(len(logits), -1))

    @torch.no_grad()
    def look(self, time: float, first: Task, second: Task) -> DataFrame:
        """The test errors of both tasks, and the loss of the second."""
        epsilon_1, _ = self._errors(first, with_loss=False)
        epsilon_2, loss_2 = self._errors(second)
        columns = {"epsilon_1": epsilon_1, "epsilon_2": epsilon_2, "loss_2": loss_2}
        table = self._by_point({name: value.cpu().numpy() for name, value in columns.items()})
        table.insert(0, "time", time)
        return table

    def _errors(self, task: Task, with_loss: bool = True) -> tuple[Tensor, Tensor]:
        """The share of wrongly classified images, and the mean loss where it is asked for."""
        wrong, losses = self.displacements.new_zeros(2, len(self.points))
        for activity, labels in zip(
            task.activity.split(IMAGES), task.labels.split(IMAGES), strict=True
        ):
            logits = self.net.onward(self.parameters, self._preactivation(activity), self.layer)
            wrong += (predictions(logits) != labels).sum(1)
            if with_loss:
                losses += self._losses(logits, labels).sum(1)
        return wrong / len(task.labels), losses / len(task.labels)

    def displaced(self) -> DataFrame:
        """q_i along every direction that has a rank."""
        constraints = self.constraints
        q = constraints.components(self.displacements).abs().cpu().numpy()
        points, ranks = q.shape
        columns = {"rank": np.arange(1, ranks + 1), "flatness": constraints.flatness.cpu().numpy()}
        columns["converged"] = constraints.known.cpu().numpy()
        table = self._by_point({}).loc[np.repeat(np.arange(points), ranks)].reset_index(drop=True)
        return table.assign(
            q=q.ravel(), **{name: np.tile(value, points) for name, value in columns.items()}
        )

    def _by_point(self, columns: Mapping[str, np.ndarray]) -> DataFrame:
        strengths, counts = zip(*self.points, strict=True)
        return DataFrame({"strength": strengths, "directions": counts, **columns})


def _constraints(solution: Solution, options: Mapping[str, Any]) -> Constraints:
    layer, most = options["layer"], max(options["directions"])
    if options["method"] == "ewc":
        return elastic(solution, layer, most)
    return landscape_dependent(solution, layer, most, options["flatness"])


def _second_task(solution: Solution, layer: str) -> tuple[Task, Task]:
    """The training and the test images of the second task."""
    samples = solution.second_task
    if not isinstance(samples, Samples):
        raise FlatlasError("there are no images of a second task: say which classes are its task.")

    def task(images: np.ndarray, labels: np.ndarray) -> Task:
        inputs = torch.as_tensor(images, dtype=torch.float64, device=solution.inputs.device)
        told = torch.as_tensor(labels, device=solution.inputs.device)
        return Task(solution.into(layer, inputs)[0], told[0])

    return (
        task(samples.inputs, samples.labels),
        task(samples.test_inputs, samples.test_labels),
    )
