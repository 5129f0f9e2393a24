"""Norms and margins against sums over paths, closed forms and autograd."""

from dataclasses import replace
from itertools import pairwise, product
from math import prod

import pytest
import torch
from solutions import make_solution
from torch.nn import functional

from flatlas.flatness.margin import margin
from flatlas.measures import measure
from flatlas.measures.norms import path_norm


def row_of(solution):
    return measure("norms", solution, {})["summary"].loc[0]


def test_the_path_norm_is_the_sum_over_all_paths():
    """Each path begins at an input or a bias; a bias is the weight of a unit that is always 1."""
    solution = make_solution("biases", 2, shape=(1, 1, 2))
    matrices = []
    for layer in solution.net.dense_layers:
        weight, bias = (
            solution.parameters[f"{layer.name}.{part}"][0] for part in ("weight", "bias")
        )
        matrices.append(functional.pad(torch.cat([weight, bias[None]]), (0, 1)))
        matrices[-1][-1, -1] = 1
    units = [range(len(matrix)) for matrix in matrices]
    paths = [
        prod(matrix[edge].item() for matrix, edge in zip(matrices, pairwise(nodes), strict=True))
        for nodes in product(*units, range(2))
    ]
    expected = sum(path**2 for path in paths) ** 0.5
    found = path_norm(solution.net, solution.parameters, solution.inputs)
    assert found.item() == pytest.approx(expected, rel=1e-12)


def test_margins_are_those_of_the_right_class():
    logits = torch.tensor([[[3.0, 1.0, 2.5], [0.0, 1.0, -1.0], [0.0, 1.0, -1.0]]])
    found = margin(logits, torch.tensor([[0, 0, 1]]))
    torch.testing.assert_close(found, torch.tensor([[0.5, -1.0, 1.0]]))
    binary = margin(torch.tensor([[[3.0], [-2.0], [1.0]]]), torch.tensor([[1, 0, 0]]))
    torch.testing.assert_close(binary, torch.tensor([[3.0, 2.0, -1.0]]))


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("net", ["biases", "two_convolutions"])
def test_losses_errors_and_gradient_are_those_of_plain_autograd(net, outputs):
    solution = make_solution(net, outputs)
    leaves = {name: one.clone().requires_grad_() for name, one in solution.parameters.items()}
    logits = solution.net.forward(leaves, solution.inputs)[0]
    labels = solution.labels[0]
    if outputs == 1:
        loss = functional.binary_cross_entropy_with_logits(logits[:, 0], labels.double())
        wrong = (logits[:, 0] > 0) != labels.bool()
    else:
        loss, wrong = functional.cross_entropy(logits, labels), logits.argmax(1) != labels
    loss.backward()
    squares = sum(leaf.grad.square().sum() for leaf in leaves.values())
    row = row_of(solution)
    assert row["train_loss"] == pytest.approx(loss.item(), rel=1e-12)
    assert row["gradient_norm"] == pytest.approx(squares.sqrt().item(), rel=1e-10)
    assert row["train_error"] == wrong.double().mean().item()
    assert (row["train_error"] == 0) == (row["margin_least"] > 0)


def test_the_distance_is_that_from_the_initial_weights():
    solution = make_solution("deep")
    begun = {name: one.double() for name, one in solution.net.initial([solution.seed]).items()}
    assert row_of(replace(solution, parameters=begun))["distance"] == 0
    moved = {**begun, "fc2.weight": begun["fc2.weight"] + 0.5}
    off = row_of(replace(solution, parameters=moved))["distance"]
    assert off == pytest.approx(0.5 * begun["fc2.weight"].numel() ** 0.5, rel=1e-12)


def test_a_torch_module_has_margins_but_no_paths():
    row = row_of(make_solution("residual"))
    unknown = [name for name in row.index if "path" in name or "normalized" in name]
    assert set(row.index[row.isna()]) == set(unknown)
    assert len(unknown) == 4
