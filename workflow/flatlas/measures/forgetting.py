"""How much of task-1 a layer forgets while it learns a second task (§V, Fig. 4).

SGD on the images of the second task continues from a solution w1 of task-1 and changes one layer
only. A cost of leaving w1 holds its weights back: Eq. 15, or elastic weight constraints instead.
The layer's inputs stay the same, so all strengths λ and numbers N_c of constraints are trained at
once, with the same order of images.
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

# How many times the test errors are measured in each epoch.
EVALUATIONS = 4
# The measurements are split into this many parts. An error is saturated if its mean over the last
# part differs by at most this from its mean over the part before.
PARTS, TOLERANCE = 5, 0.01
# Images evaluated at a time: their activations for a hundred points fit into a core's cache.
IMAGES = 50


@dataclass(frozen=True)
class Task:
    """The layer's inputs (images, n_in) and the labels (images), for training or testing."""

    activity: Tensor
    labels: Tensor


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """A row for each λ (`strength`) and N_c (`directions`), starting with λ = 0 and no constraint.

    `errors` follows the test errors ε1 and ε2 of the two tasks over `time`, in epochs of task-2,
    and `loss_2` on its test images. `points` has their saturated values, means over the last fifth
    of the measurements; `residual` is the larger change of ε1 or ε2 since the fifth before, up or
    down. `displacements` has q_i = |(w2 − w1)·p_i| of the last weights, and the `flatness` F_i, by
    `rank`; for elastic constraints these are single weights.
    """
    layer = options["layer"]
    constraints = _constraints(solution, options)
    points = [(0.0, 0), *product(options["strengths"], options["directions"])]
    stack = _Stack(solution, layer, constraints, points, options["lr"])
    first = Task(solution.into(layer, solution.test_inputs)[0], solution.test_labels[0])
    second, test = _second_task(solution, layer)
    rows = [stack.test_errors(0.0, first, test)]
    random = generator(solution.seed, "second task")
    for time in stack.learn(second, options["epochs"], options["batch"], random):
        rows.append(stack.test_errors(time, first, test))
    errors = pd.concat(rows, ignore_index=True)
    method = {"method": options["method"]}
    steps = options["epochs"] * -(-len(second.labels) // options["batch"])
    return {
        "errors": errors.assign(**method),
        "points": saturated(errors).assign(iterations=steps, **method),
        "displacements": stack.displaced().assign(**method),
    }


def saturated(errors: DataFrame) -> DataFrame:
    """The means over the last part of the measurements, and their change from the part before."""
    times = np.sort(errors["time"].unique())
    few = max(1, len(times) // PARTS)
    values = ["epsilon_1", "epsilon_2", "loss_2"]

    def means(some: np.ndarray) -> DataFrame:
        rows = errors[errors["time"].isin(some)]
        return rows.groupby(["strength", "directions"])[values].mean()

    last, before = means(times[-few:]), means(times[-2 * few : -few])
    changes = last - before
    moved = changes[["epsilon_1", "epsilon_2"]].abs()
    settled = moved <= TOLERANCE
    return last.assign(
        change_1=changes["epsilon_1"],
        residual=moved.max(axis=1),
        converged=settled.all(axis=1),
        converged_2=settled["epsilon_2"],
    ).reset_index()


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
        """Start all points at w1."""
        self.net, self.layer, self.constraints, self.lr = solution.net, layer, constraints, lr
        self.points = points
        self.start = solution.parameters[f"{layer}.weight"]
        self.displacements = self.start.new_zeros(len(points), self.start.numel())
        self.parameters = {
            name: value.expand(len(points), *value.shape[1:])
            for name, value in solution.parameters.items()
        }
        strengths, counts = (self.start.new_tensor(one) for one in zip(*points, strict=True))
        self.cost_step = constraints.cost_step(strengths, counts, lr)

    def learn(
        self, task: Task, epochs: int, batch: int, random: np.random.Generator
    ) -> Iterator[float]:
        """SGD on a task; yields the time in epochs, a few times an epoch."""
        count = len(task.labels)
        steps = -(-count // batch)
        halts = {round(steps * part / EVALUATIONS) for part in range(1, EVALUATIONS + 1)}
        for epoch in range(epochs):
            order = torch.as_tensor(random.permutation(count), device=task.labels.device)
            for step, chosen in enumerate(order.split(batch), start=1):
                self._step(task.activity[chosen], task.labels[chosen])
                if step in halts:
                    yield epoch + step / steps

    def _step(self, activity: Tensor, labels: Tensor) -> None:
        z = self._preactivation(activity).requires_grad_()
        losses = self._losses(self.net.logits_from(self.parameters, z, self.layer), labels)
        (delta,) = torch.autograd.grad(losses.mean(1).sum(), z)
        self.displacements -= self.lr * (activity.T @ delta).flatten(1)
        self.cost_step(self.displacements)

    def _preactivation(self, activity: Tensor) -> Tensor:
        weights = self.start + self.displacements.view(-1, *self.start.shape[1:])
        parameters = {**self.parameters, f"{self.layer}.weight": weights}
        whole = activity.expand(len(weights), *activity.shape)
        return self.net.dense(self.layer).preactivation(parameters, whole)

    def _losses(self, logits: Tensor, labels: Tensor) -> Tensor:
        return sample_losses(logits, labels.expand(len(logits), -1))

    @torch.no_grad()
    def test_errors(self, time: float, first: Task, second: Task) -> DataFrame:
        """The test errors of both tasks, and the loss of the second."""
        epsilon_1, _ = self._errors(first, with_loss=False)
        epsilon_2, loss_2 = self._errors(second)
        columns = {"epsilon_1": epsilon_1, "epsilon_2": epsilon_2, "loss_2": loss_2}
        table = self._by_point({name: value.cpu().numpy() for name, value in columns.items()})
        table.insert(0, "time", time)
        return table

    def _errors(self, task: Task, with_loss: bool = True) -> tuple[Tensor, Tensor]:
        """The share of misclassified images, and the mean loss if requested."""
        wrong, losses = self.displacements.new_zeros(2, len(self.points))
        for activity, labels in zip(
            task.activity.split(IMAGES), task.labels.split(IMAGES), strict=True
        ):
            logits = self.net.logits_from(
                self.parameters, self._preactivation(activity), self.layer
            )
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
        raise FlatlasError(
            "there are no images of a second task: name its classes in the option task."
        )

    def task(images: np.ndarray, labels: np.ndarray) -> Task:
        inputs = torch.as_tensor(images, dtype=torch.float64, device=solution.inputs.device)
        targets = torch.as_tensor(labels, device=solution.inputs.device)
        return Task(solution.into(layer, inputs)[0], targets[0])

    return (
        task(samples.inputs, samples.labels),
        task(samples.test_inputs, samples.test_labels),
    )
