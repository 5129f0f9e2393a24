"""Norms and margins against closed forms on tiny nets, sums over paths, and autograd."""

from dataclasses import replace
from itertools import product

import pytest
import torch
from torch.nn import functional

from flatlas.measures.norms import margin, measure, path_norm
from flatlas.nets import build_net
from flatlas.nets.rescaling import rescaled
from flatlas.plan.families.dense import DenseNet


def row_of(solution):
    return measure(solution, {})["summary"].loc[0]


def paths_of(solution):
    """The product of the weights along every path, from inputs and biases to outputs."""
    matrices = [
        tuple(solution.parameters[f"{layer.name}.{part}"][0] for part in ("weight", "bias"))
        for layer in solution.net.dense_layers
    ]
    widths = [len(matrices[0][0]), *(len(bias) for _, bias in matrices)]
    for first in range(len(matrices)):
        for nodes in product(*(range(width) for width in widths[first + 1 :])):
            begun = matrices[first][1][nodes[0]]
            for (matrix, _), below, above in zip(
                matrices[first + 1 :], nodes, nodes[1:], strict=False
            ):
                begun = begun * matrix[below, above]
            yield begun
    for nodes in product(*(range(width) for width in widths)):
        through = torch.tensor(1.0, dtype=torch.float64)
        for (matrix, _), below, above in zip(matrices, nodes, nodes[1:], strict=False):
            through = through * matrix[below, above]
        yield through


def small(outputs=2):
    net = build_net(DenseNet(family="dense", hidden=(3, 2), bias=True), (1, 2, 2), outputs)
    random = torch.Generator().manual_seed(1)
    weights = {
        name: torch.randn(1, *shape, generator=random, dtype=torch.float64)
        for name, shape in net.shapes.items()
    }
    return net, weights


def test_the_path_norm_is_the_sum_over_all_paths(make_solution):
    net, weights = small()
    solution = replace(make_solution("biases"), net=net, parameters=weights)
    images = torch.zeros(1, 5, 1, 2, 2, dtype=torch.float64)
    expected = sum(path**2 for path in paths_of(solution)) ** 0.5
    assert path_norm(net, weights, images).item() == pytest.approx(expected.item(), rel=1e-12)


def test_two_neurons_by_hand():
    """f = 3 relu(2x + 1): the paths 3·2 and 3·1."""
    net = build_net(DenseNet(family="dense", hidden=(1,), bias=True), (1, 1, 1), 1)
    weights = {
        name: torch.full((1, *shape), value, dtype=torch.float64)
        for (name, shape), value in zip(net.shapes.items(), (2.0, 1.0, 3.0, 0.0), strict=True)
    }
    images = torch.zeros(1, 1, 1, 1, 1, dtype=torch.float64)
    assert path_norm(net, weights, images).item() == pytest.approx(45**0.5, rel=1e-15)


def test_margins_are_those_of_the_right_class():
    logits = torch.tensor([[[3.0, 1.0, 2.5], [0.0, 1.0, -1.0], [0.0, 1.0, -1.0]]])
    told = margin(logits, torch.tensor([[0, 0, 1]]))
    torch.testing.assert_close(told, torch.tensor([[0.5, -1.0, 1.0]]))
    binary = margin(torch.tensor([[[3.0], [-2.0], [1.0]]]), torch.tensor([[1, 0, 0]]))
    torch.testing.assert_close(binary, torch.tensor([[3.0, 2.0, -1.0]]))


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("net", ["biases", "two_convolutions"])
def test_losses_errors_and_gradient_are_those_of_plain_autograd(make_solution, net, outputs):
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


def test_the_distance_is_that_from_the_weights_it_began_with(make_solution):
    solution = make_solution("deep")
    begun = {name: one.double() for name, one in solution.net.initial([solution.seed]).items()}
    assert row_of(replace(solution, parameters=begun))["distance"] == 0
    moved = {**begun, "fc2.weight": begun["fc2.weight"] + 0.5}
    off = row_of(replace(solution, parameters=moved))["distance"]
    assert off == pytest.approx(0.5 * begun["fc2.weight"].numel() ** 0.5, rel=1e-12)


@pytest.mark.parametrize("factor", [5.9, 0.169, torch.linspace(0.2, 4, 8, dtype=torch.float64)])
def test_an_alpha_scaling_moves_the_weight_norm_but_neither_path_norm_nor_margins(
    make_solution, factor
):
    solution = make_solution("biases")
    scaled = rescaled(solution.net, solution.parameters, "fc1", factor)
    before, after = row_of(solution), row_of(replace(solution, parameters=scaled))
    same = [name for name in before.index if "margin" in name] + ["path_norm", "train_loss"]
    assert after[same].to_dict() == pytest.approx(before[same].to_dict(), rel=1e-10)
    assert abs(after["weight_norm"] / before["weight_norm"] - 1) > 0.01


def test_of_a_torch_module_there_are_margins_but_no_paths(make_solution):
    row = row_of(make_solution("residual"))
    unknown = [name for name in row.index if "path" in name or "normalized" in name]
    assert set(row.index[row.isna()]) == set(unknown)
    assert len(unknown) == 4


def test_only_images_with_their_true_labels_count(make_solution):
    solution = make_solution("biases")
    clean = torch.arange(40).unsqueeze(0) < 30
    alone = replace(
        solution, inputs=solution.inputs[:, :30], labels=solution.labels[:, :30],
        clean=clean[:, :30],
    )  # fmt: skip
    assert row_of(replace(solution, clean=clean)).equals(row_of(alone))
