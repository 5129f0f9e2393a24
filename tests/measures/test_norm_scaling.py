"""Loss and Hessian of scaled weights against whole Hessians, and against what they become."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from flatlas.hessian.loss import MeanLoss, flattened, unflattened
from flatlas.measures import measure, norm_scaling
from flatlas.measures.solution import Solution
from flatlas.nets import build_net
from flatlas.plan.families.dense import DenseNet

FACTORS = (0.5, 1.0, 2.0, 4.0)
NORMS = ("spectral_norm", "trace", "frobenius")


def taken(solution, **changed):
    options = {"factors": FACTORS, "top": 5, "tolerance": 1e-8, "probes": 50, **changed}
    return measure("norm_scaling", solution, options)["summary"].set_index("factor")


def fitted(solution):
    """The same with the labels that the net gives, and with the scale of trained logits."""
    logits = solution.net.forward(solution.parameters, solution.inputs)
    return replace(solution, labels=logits.argmax(2))


def logistic(images=30):
    generator = torch.Generator().manual_seed(3)
    net = build_net(DenseNet(family="dense", hidden=(), bias=True), (1, 2, 2), 3)
    parameters = {
        name: torch.randn(1, *shape, generator=generator, dtype=torch.float64)
        for name, shape in net.shapes.items()
    }
    x = torch.randn(1, images, 1, 2, 2, generator=generator, dtype=torch.float64)
    labels = torch.arange(images).remainder(3).unsqueeze(0)
    clean = torch.ones_like(labels, dtype=torch.bool)
    return Solution(net, 0, parameters, parameters, x, labels, clean, x, labels)


def norms_of(matrix):
    return [torch.linalg.norm(matrix, 2).item(), matrix.trace().item(), matrix.norm().item()]


def jacobians(solution):
    """J of each image (images, outputs, size), one backward pass a number."""
    (w,) = flattened(solution.net, solution.parameters)

    def logits(w):
        return solution.net.forward(unflattened(solution.net, w), solution.inputs).squeeze(0)

    return logits(w), torch.autograd.functional.jacobian(logits, w)


@pytest.mark.parametrize("net", ["one_hidden", "two_hidden"])
def test_measured_is_the_whole_hessian_of_the_scaled_weights(make_solution, net):
    solution = make_solution(net, 3)
    rows = taken(solution)
    loss = MeanLoss(solution.net, solution.inputs, solution.labels)
    (w,) = flattened(solution.net, solution.parameters)
    for factor, row in rows.iterrows():
        matrix = torch.autograd.functional.hessian(loss, factor * w)
        assert row[[*NORMS]].tolist() == pytest.approx(norms_of(matrix), rel=1e-9)
        assert row["loss"] == pytest.approx(loss(factor * w).item(), rel=1e-12)
        assert row["weight_norm"] == pytest.approx(factor * w.norm().item(), rel=1e-12)
    assert rows["converged"].all()


def test_logistic_regression_has_its_hessian_in_closed_form():
    """H(c) = ⟨(diag p − p pᵀ) ⊗ x̃ x̃ᵀ⟩ with p = softmax(c z)."""
    solution = logistic()
    rows = taken(solution)
    x = functional.pad(solution.inputs[0].flatten(1), (0, 1), value=1.0)
    z = solution.net.forward(solution.parameters, solution.inputs)[0]
    for factor, row in rows.iterrows():
        p = (factor * z).softmax(1)
        curvature = torch.diag_embed(p) - p.unsqueeze(2) * p.unsqueeze(1)
        blocks = torch.einsum("iab,ij,ik->ajbk", curvature, x, x) / len(x)
        assert row[[*NORMS]].tolist() == pytest.approx(norms_of(blocks.reshape(15, 15)), rel=1e-9)


@pytest.mark.parametrize("net", ["logistic", "one_hidden", "two_hidden"])
def test_predicted_is_the_sum_over_odds_of_explicit_jacobians(make_solution, net):
    solution = logistic() if net == "logistic" else make_solution(net, 3, images=12)
    depth = {"logistic": 1, "one_hidden": 2, "two_hidden": 3}[net]
    logits, jacobian = jacobians(solution)
    for factor, row in taken(solution).iterrows():
        matrix, loss = torch.zeros(2 * (jacobian.shape[2],), dtype=torch.float64), 0.0
        for z, J, label in zip(logits, jacobian, solution.labels[0], strict=True):
            a = int(z.argmax())
            loss += factor**depth * (z[a] - z[label])
            for b in set(range(3)) - {a}:
                odds = torch.exp(-(factor**depth) * (z[a] - z[b]))
                matrix += odds * torch.outer(J[a] - J[b], J[a] - J[b])
                loss += odds
        expected = norms_of(factor ** (2 * depth - 2) * matrix / len(logits))
        predicted = [row[f"{name}_predicted"] for name in NORMS]
        assert predicted == pytest.approx(expected, rel=1e-9)
        assert row["loss_predicted"] == pytest.approx(float(loss) / len(logits), rel=1e-9)
        assert row["depth"] == depth


def test_measured_becomes_what_is_predicted(make_solution):
    """Of images that are classified correctly, beyond what the least margin leaves of them."""
    solution = fitted(make_solution("two_hidden", 3))
    rows = taken(solution, factors=(1.0, 3.0, 6.0))
    assert (rows["misclassified"] == 0).all()
    assert rows["least_margin"].iloc[0] > 0
    for name in ("loss", *NORMS):
        off = np.abs(rows[name] / rows[f"{name}_predicted"] - 1).to_numpy()
        assert off[0] > off[1] > off[2]
        assert off[2] < 0.02
    assert rows.loc[6.0, "trace"] < rows.loc[3.0, "trace"]


def test_images_that_are_misclassified_are_counted(make_solution):
    solution = make_solution("two_hidden", 3)
    right = fitted(solution).labels
    wrong = replace(solution, labels=torch.where(torch.arange(40) < 7, (right + 1) % 3, right))
    rows = taken(wrong)
    assert (rows["misclassified"] == 7).all()
    assert (rows["least_margin"] < 0).all()


def test_a_loss_far_below_round_off_of_one_is_not_zero():
    """log(1 + e^-60) to its first order, and a large loss as it is."""
    logits = torch.tensor([[60.0, 0.0], [60.0, 0.0]], dtype=torch.float64)
    small = norm_scaling._loss(logits, torch.tensor([0, 0]))
    assert small == pytest.approx(math.exp(-60), rel=1e-12)
    assert norm_scaling._loss(logits, torch.tensor([1, 1])) == pytest.approx(60.0, rel=1e-12)
