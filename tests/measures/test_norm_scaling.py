"""Loss and Hessian of scaled weights against whole Hessians, and against their limits."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from solutions import make_solution, whole_hessian

from flatlas.hessian.loss import flattened, unflattened
from flatlas.measures import measure, norm_scaling

NORMS = ("spectral_norm", "trace", "frobenius")


def taken(solution, factors=(0.5, 1.0, 2.0, 4.0)):
    options = {"factors": factors, "top": 5, "tolerance": 1e-8, "probes": 50}
    return measure("norm_scaling", solution, options)["summary"].set_index("factor")


def fitted(solution):
    """The same solution with the labels that the net gives."""
    logits = solution.net.forward(solution.parameters, solution.inputs)
    return replace(solution, labels=logits.argmax(2))


def norms_of(matrix):
    return [torch.linalg.norm(matrix, 2).item(), matrix.trace().item(), matrix.norm().item()]


@pytest.mark.parametrize("net", ["logistic", "one_hidden", "two_hidden"])
def test_measured_norms_are_those_of_the_scaled_weights(net):
    solution = make_solution(net)
    rows = taken(solution)
    for factor, row in rows.iterrows():
        scaled = {name: factor * weights for name, weights in solution.parameters.items()}
        loss, w, matrix = whole_hessian(replace(solution, parameters=scaled))
        expected = [*norms_of(matrix), loss(w).item(), w.norm().item()]
        assert row[[*NORMS, "loss", "weight_norm"]].tolist() == pytest.approx(expected, rel=1e-9)
    assert rows["converged"].all()


@pytest.mark.parametrize(("net", "depth"), [("logistic", 1), ("one_hidden", 2), ("two_hidden", 3)])
def test_the_prediction_is_the_sum_over_odds_of_explicit_jacobians(net, depth):
    """J of each image (images, outputs, size) takes one backward pass for each row."""
    solution = make_solution(net, images=12, shape=(1, 2, 2))
    (w,) = flattened(solution.net, solution.parameters)

    def logits_at(w):
        return solution.net.forward(unflattened(solution.net, w), solution.inputs).squeeze(0)

    logits, jacobian = logits_at(w), torch.autograd.functional.jacobian(logits_at, w)
    for factor, row in taken(solution).iterrows():
        matrix, loss = torch.zeros(2 * (len(w),), dtype=torch.float64), 0.0
        for z, J, label in zip(logits, jacobian, solution.labels[0], strict=True):
            a = int(z.argmax())
            loss += factor**depth * (z[a] - z[label])
            for b in set(range(3)) - {a}:
                odds = torch.exp(-(factor**depth) * (z[a] - z[b]))
                matrix += odds * torch.outer(J[a] - J[b], J[a] - J[b])
                loss += odds
        expected = norms_of(factor ** (2 * depth - 2) * matrix / len(logits))
        names = [f"{name}_predicted" for name in (*NORMS, "loss")]
        assert row[names].tolist() == pytest.approx([*expected, float(loss) / 12], rel=1e-9)
        assert row["depth"] == depth


def test_measured_norms_approach_the_prediction():
    """They do if all images are classified correctly, beyond the scale of the least margin."""
    rows = taken(fitted(make_solution("two_hidden")), factors=(1.0, 3.0, 6.0))
    assert (rows["misclassified"] == 0).all()
    assert rows["least_margin"].iloc[0] > 0
    for name in ("loss", *NORMS):
        off = np.abs(rows[name] / rows[f"{name}_predicted"] - 1).to_numpy()
        assert off[0] > off[1] > off[2]
        assert off[2] < 0.02
    assert rows.loc[6.0, "trace"] < rows.loc[3.0, "trace"]


def test_misclassified_images_are_counted():
    solution = fitted(make_solution("two_hidden"))
    solution.labels[0, :7] = (solution.labels[0, :7] + 1) % 3
    rows = taken(solution)
    assert (rows["misclassified"] == 7).all()
    assert (rows["least_margin"] < 0).all()


@pytest.mark.parametrize(("label", "expected"), [(0, math.exp(-60)), (1, 60.0)])
def test_losses_far_below_and_above_one_are_exact(label, expected):
    """log(1 + e^-60) to its first order, and a large loss."""
    logits = torch.tensor([[60.0, 0.0], [60.0, 0.0]], dtype=torch.float64)
    found = norm_scaling._loss(logits, torch.tensor([label, label]))
    assert found == pytest.approx(expected, rel=1e-12)
