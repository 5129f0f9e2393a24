"""The activity-weight duality of a dense layer (Feng, Zhang & Tu): its part in the test loss.

Each test example is paired with the nearest training example of the same label.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import PositiveInt
from torch import Tensor
from torch.utils._pytree import tree_leaves

from flatlas.errors import FlatlasError
from flatlas.flatness import duality as flatness
from flatlas.flatness.partners import Partners, nearest_partners
from flatlas.flatness.split import refuse_too_many, sums
from flatlas.library.classes import is_binary
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem
from flatlas.models.batches import Batch
from flatlas.models.linear_layer import LinearLayer, Passed
from flatlas.models.objective import Objective
from flatlas.models.tensors import described, exact

# The most weights of a layer. Their Hessian has 3.2 GB; finding its eigenvectors takes three times
# as much.
WEIGHTS = 20_000
# With dual weights, the losses of partners may differ from those of their test examples, on
# average, by SAME times the mean |Δl|, which allows for float32, plus ROUND_OFFS times the loss's
# own round-off.
SAME = 1e-3
ROUND_OFFS = 100
# Labels of examples that the loss ignores. The two differ, so these examples are never paired. A
# loss may have labels below 0, but hardly these.
IGNORED = torch.iinfo(torch.long).min
IGNORED_IN_TEST = IGNORED + 1


@dataclass(frozen=True)
class Duality(flatness.Duality):
    """The duality with S_w = Σ σ_w, T_g = Σ σ_g², T_h = Σ H_n and T_w = Σ σ_w².

    `S_w_curved` is the sum over directions whose |H_n| is above round-off, ε N max |H_n|.
    `unpartnered` counts the test examples whose label no training example has.
    """

    unpartnered: int

    def quantities(self) -> Mapping[str, Quantity]:
        """The gap of the losses with its parts, and the sums over directions."""
        found = {name: one for name, one in vars(self).items() if isinstance(one, int | float)}
        found |= sums(self.eigenvalue, self.sigma_g, self.sigma_w)
        return {name: Quantity(float(value)) for name, value in found.items()}


def measure(
    problem: Problem, *, layer: str, sharp: PositiveInt | Literal["steepest"] = "steepest"
) -> Duality:
    """The duality of the nn.Linear `layer`, along all eigenvectors of the Hessian in its weight.

    `sharp` is the number of sharp directions; by default they end where σ_g falls most steeply.
    Where the Hessian has no curvature, eigenvectors are arbitrary: S_w depends on the solver's
    choice, and the sharp part of the gap may; S_w_curved does not. Weights of classes count in the
    Hessian, but cancel in the loss of a single example, except with label smoothing.

    The measure needs `test` data, inputs with a distance (no tokens), and a label for each example.
    Each example must pass the layer once, as one vector, nothing may bypass the layer, and no other
    layer may share its weight. A partner with dual weights then has the loss of its test example,
    which is checked. Layers have at most 20,000 weights, because all eigenvectors are taken.
    """
    objective, (one, test) = problem.training, _layer(problem, layer)
    here = _seen(one, objective, IGNORED)
    there = _seen(LinearLayer(test, layer), test, IGNORED_IN_TEST)
    if here.inputs.shape[1] != there.inputs.shape[1]:
        raise FlatlasError(
            f"the inputs have {here.inputs.shape[1]} numbers in training examples, but "
            f"{there.inputs.shape[1]} in test examples. Allowed: one length."
        )
    paired = nearest_partners(there.inputs, there.labels, here.inputs, here.labels)
    gap = there.passed.losses[paired.test] - here.passed.losses[paired.train]
    _refuse_ways_past(one, objective, there.passed, paired, gap)
    found = flatness.duality(
        one.weight,
        here.passed.activity[paired.train],
        there.passed.activity[paired.test],
        gap,
        _hessian(one, objective, here.passed),
        sharp,
    )
    return Duality(**vars(found), unpartnered=paired.unpartnered)


def check(problem: Problem, *, layer: str, sharp: int | str) -> None:
    """Raise an error without test data, or without a small layer that has so many directions."""
    found, _ = _layer(problem, layer)
    refuse_too_many(sharp, found.weight.numel())


def _layer(problem: Problem, name: str) -> tuple[LinearLayer, Objective]:
    """The layer of this name, and the test data."""
    if problem.test is None:
        raise FlatlasError(
            "duality compares the losses of test and training examples: give test=..., too."
        )
    found = LinearLayer(problem.training, name)
    n_in, n_out = found.weight.shape
    if n_in * n_out > WEIGHTS:
        raise FlatlasError(
            f"layer '{name}' has {n_in * n_out} weights, and duality takes all eigenvectors of "
            f"their Hessian. Allowed: a layer of at most {WEIGHTS} weights."
        )
    return found, problem.test


@dataclass(frozen=True)
class _Seen:
    """All examples as vectors (examples, numbers), their labels, and how they pass the layer."""

    inputs: Tensor
    labels: Tensor
    passed: Passed


def _seen(layer: LinearLayer, objective: Objective, ignored: int) -> _Seen:
    inputs, labels, passed = [], [], []
    for batch in objective.batches:
        inputs.append(_vectors(batch))
        labels.append(_labels(batch, objective, ignored))
        passed.append(layer.passed(batch))
    lengths = {one.shape[1] for one in inputs}
    if len(lengths) > 1:
        raise FlatlasError(
            f"the inputs have {' and '.join(map(str, sorted(lengths)))} numbers in different "
            "batches, so there is no distance between them. Allowed: one length."
        )
    together = zip(*((one.activity, one.output, one.losses) for one in passed), strict=True)
    return _Seen(torch.cat(inputs), torch.cat(labels), Passed(*map(torch.cat, together)))


def _vectors(batch: Batch) -> Tensor:
    """The inputs of each example in one row; distances between rows decide who are partners."""
    leaves = tree_leaves((batch.arguments, batch.named))
    for one in leaves:
        has_rows = isinstance(one, Tensor) and one.ndim and len(one) == batch.examples
        if not has_rows or not one.is_floating_point():
            raise FlatlasError(
                "duality pairs each test example with the nearest training example, but "
                f"{described(one)} has no distance. Allowed: inputs of floating-point numbers, "
                "with one row for each example."
            )
    return torch.cat([exact(one).reshape(batch.examples, -1) for one in leaves], dim=1)


def _labels(batch: Batch, objective: Objective, ignored: int) -> Tensor:
    target = batch.target
    is_tensor = isinstance(target, Tensor) and target.numel() == batch.examples
    is_class = is_tensor and not target.is_floating_point()
    if not is_class and not (is_tensor and objective.loss.is_binary and is_binary(target)):
        raise FlatlasError(
            "duality pairs each test example with a training example of the same label, but the "
            f"target is {described(target)}. Allowed: a label for each example."
        )
    labels = exact(target).long().reshape(-1)
    return labels.masked_fill(objective.loss.ignores(labels), ignored)


def _refuse_ways_past(
    layer: LinearLayer, objective: Objective, test: Passed, paired: Partners, gap: Tensor
) -> None:
    """Raise an error unless the layer's output alone determines the loss of an example."""
    wanted = test.losses[paired.test]
    found, begin = torch.full_like(wanted, torch.nan), 0
    for batch in objective.batches:
        within = (paired.train >= begin) & (paired.train < begin + batch.examples)
        for pairs in within.nonzero().flatten().split(batch.examples):
            partners = batch.of_rows(paired.train[pairs] - begin)
            found[pairs] = layer.losses_with(partners, test.output[paired.test[pairs]])
        begin += batch.examples
    floor = ROUND_OFFS * torch.finfo(objective.dtype).eps * wanted.abs().mean()
    if (found - wanted).abs().mean() > SAME * gap.abs().mean() + floor:
        raise FlatlasError(
            f"layer '{layer.name}' has no dual weights: given its outputs for the test examples, "
            f"the mean loss of their partners is {found.mean():.3g}, but that of the test examples "
            f"is {wanted.mean():.3g}. Nothing may bypass the layer, such as a skip connection."
        )


def _hessian(layer: LinearLayer, objective: Objective, passed: Passed) -> Tensor:
    """The Hessian of the mean loss, in the flattened weights (n_in · n_out)."""
    size, divisor, begin = layer.weight.numel(), 0.0, 0
    total = passed.activity.new_zeros(*layer.weight.shape, *layer.weight.shape)
    for batch in objective.batches:
        rows = slice(begin, begin + batch.examples)
        curvature, share = layer.curvature(batch, passed.output[rows])
        flatness.add_curvature(total, passed.activity[rows], curvature)
        divisor, begin = divisor + share, begin + batch.examples
    return total.view(size, size) / (divisor or 1.0)
