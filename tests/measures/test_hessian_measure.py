"""The table of a net's Hessian against automatic differentiation of the whole matrix, on S."""

from dataclasses import replace

import pytest
import torch

from flatlas.errors import FlatlasError
from flatlas.hessian import norms
from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.measures.hessian import measure

OPTIONS = {"top": 10, "tolerance": 1e-8, "probes": 50}


def attacked(solution, every=4):
    """With an attack set among the images."""
    clean = torch.arange(solution.clean.shape[1]).remainder(every) > 0
    return replace(solution, clean=clean.unsqueeze(0))


def on_s(solution):
    """L, w and the whole Hessian over the images that are not of the attack set."""
    clean = solution.clean[0]
    loss = MeanLoss(solution.net, solution.inputs[:, clean], solution.labels[:, clean])
    (w,) = flattened(solution.net, solution.parameters)
    return loss, w, torch.autograd.functional.hessian(loss, w)


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_dense_net(make_solution, outputs):
    solution = attacked(make_solution("biases", outputs))
    tables = measure(solution, OPTIONS)
    (row,) = tables["summary"].to_dict("records")
    loss, w, matrix = on_s(solution)
    eigenvalues = torch.linalg.eigvalsh(matrix).flip(0)
    assert tables["eigenvalues"]["rank"].tolist() == list(range(1, 11))
    assert tables["eigenvalues"]["eigenvalue"].tolist() == pytest.approx(eigenvalues[:10].tolist())
    assert row["spectral_norm"] == pytest.approx(eigenvalues.abs().max().item(), rel=1e-9)
    assert row["log10_product"] == pytest.approx(eigenvalues[:10].log10().sum().item(), rel=1e-9)
    assert row["trace"] == pytest.approx(matrix.trace().item(), rel=1e-12)
    assert row["frobenius"] == pytest.approx(matrix.norm().item(), rel=1e-12)
    assert row["loss"] == pytest.approx(loss(w).item(), rel=1e-12)
    gradient = torch.autograd.functional.jacobian(loss, w)
    assert row["gradient_norm"] == pytest.approx(gradient.norm().item(), rel=1e-12)
    assert row["trace_error"] == row["frobenius_error"] == 0
    assert row["positive"] == 10
    assert row["converged"]
    assert row["residual"] == tables["eigenvalues"]["residual"].max() <= 1e-8 * row["spectral_norm"]


def test_where_there_is_no_closed_form_trace_and_norm_are_estimates(make_solution):
    solution = attacked(make_solution("convolutional"))
    (row,) = measure(solution, OPTIONS)["summary"].to_dict("records")
    _, _, matrix = on_s(solution)
    assert row["spectral_norm"] == pytest.approx(torch.linalg.norm(matrix, 2).item(), rel=1e-9)
    for name, exact in (("trace", matrix.trace()), ("frobenius", matrix.norm())):
        assert 0 < abs(row[name] - exact) < 3 * row[f"{name}_error"] < matrix.norm()


def test_in_single_precision_it_is_the_same_to_a_ten_thousandth(make_solution):
    solution = attacked(make_solution("convolutional"))
    quick = {**OPTIONS, "tolerance": 1e-4}
    (exact,) = measure(solution, quick)["summary"].to_dict("records")
    (row,) = measure(solution, {**quick, "precision": "float32"})["summary"].to_dict("records")
    assert row["loss"] == exact["loss"]
    for name in ("spectral_norm", "trace", "frobenius"):
        assert row[name] != exact[name]
        assert row[name] == pytest.approx(exact[name], rel=2e-4)


def test_the_norm_of_very_many_images_is_an_estimate(make_solution, monkeypatch):
    solution = make_solution("biases")
    exact = measure(solution, OPTIONS)["summary"].loc[0]
    monkeypatch.setattr(norms, "EXACT", 40 * 3 - 1)
    row = measure(solution, OPTIONS)["summary"].loc[0]
    assert row["trace"] == exact["trace"]
    assert 0 < abs(row["frobenius"] - exact["frobenius"]) < 3 * row["frobenius_error"]


def test_eigenvalues_that_are_not_positive_stay_out_of_the_product(make_solution):
    """Two images and one output: two directions curve, and the residual term adds its pairs."""
    solution = make_solution("biases", 1, images=2)
    (row,) = measure(solution, {**OPTIONS, "top": 60})["summary"].to_dict("records")
    eigenvalues = torch.linalg.eigvalsh(on_s(solution)[2])
    positive = eigenvalues[eigenvalues > 1e-13 * eigenvalues.abs().max()]
    assert 2 <= len(positive) < 60
    assert row["positive"] == len(positive)
    assert row["log10_product"] == pytest.approx(positive.log10().sum().item(), rel=1e-6)


def test_the_same_bytes_twice(make_solution):
    solution = make_solution("convolutional")
    first, second = measure(solution, OPTIONS), measure(solution, OPTIONS)
    assert all(first[name].equals(second[name]) for name in first)


def test_nothing_is_left_of_images_that_are_all_mislabelled(make_solution):
    solution = make_solution("biases")
    solution = replace(solution, clean=torch.zeros_like(solution.clean))
    with pytest.raises(FlatlasError, match="none of the 40 training images of seed 0"):
        measure(solution, OPTIONS)
