"""The table of a net's Hessian against automatic differentiation of the whole matrix, on S."""

import pytest
import torch
from solutions import make_solution, whole_hessian

from flatlas.hessian import norms
from flatlas.measures import measure

OPTIONS = {"top": 10, "tolerance": 1e-8, "probes": 50}


def attacked(net, outputs=3):
    """A solution with an attack set, and L, w and the whole Hessian over S."""
    solution = make_solution(net, outputs)
    solution.clean[0, ::4] = False
    return solution, *whole_hessian(solution, solution.clean[0])


def summary(solution, **options):
    (row,) = measure("hessian", solution, OPTIONS | options)["summary"].to_dict("records")
    return row


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_dense_net(outputs):
    solution, loss, w, matrix = attacked("biases", outputs)
    tables = measure("hessian", solution, OPTIONS)
    (row,), table = tables["summary"].to_dict("records"), tables["eigenvalues"]
    eigenvalues = torch.linalg.eigvalsh(matrix).flip(0)
    assert table["rank"].tolist() == list(range(1, 11))
    assert table["eigenvalue"].tolist() == pytest.approx(eigenvalues[:10].tolist())
    expected = {
        "spectral_norm": eigenvalues.abs().max().item(),
        "log10_product": eigenvalues[:10].log10().sum().item(),
        "trace": matrix.trace().item(),
        "frobenius": matrix.norm().item(),
        "loss": loss(w).item(),
        "gradient_norm": torch.func.grad(loss)(w).norm().item(),
    }
    assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-9)
    assert row["trace_error"] == row["frobenius_error"] == 0
    assert row["positive"] == 10
    assert row["converged"]
    assert row["residual"] == table["residual"].max() <= 1e-8 * row["spectral_norm"]


def test_without_a_closed_form_trace_and_norm_are_estimates():
    """In single precision they are the same to a ten thousandth."""
    solution, *_, matrix = attacked("convolutional")
    row = summary(solution)
    assert row["spectral_norm"] == pytest.approx(torch.linalg.norm(matrix, 2).item(), rel=1e-9)
    for name, exact in (("trace", matrix.trace()), ("frobenius", matrix.norm())):
        assert 0 < abs(row[name] - exact) < 3 * row[f"{name}_error"] < matrix.norm()
    single = summary(solution, tolerance=1e-4, precision="float32")
    assert single["loss"] == row["loss"]
    for name in ("spectral_norm", "trace", "frobenius"):
        assert single[name] != row[name]
        assert single[name] == pytest.approx(row[name], rel=2e-4)


def test_the_norm_of_very_many_images_is_an_estimate(monkeypatch):
    solution = make_solution("biases")
    exact = summary(solution)
    monkeypatch.setattr(norms, "EXACT", 40 * 3 - 1)
    row = summary(solution)
    assert row["trace"] == exact["trace"]
    assert 0 < abs(row["frobenius"] - exact["frobenius"]) < 3 * row["frobenius_error"]


def test_only_positive_eigenvalues_are_in_the_product():
    """Two images and one output: two directions curve, and the residual term adds its pairs."""
    solution = make_solution("biases", 1, images=2)
    row = summary(solution, top=60)
    eigenvalues = torch.linalg.eigvalsh(whole_hessian(solution)[2])
    positive = eigenvalues[eigenvalues > 1e-13 * eigenvalues.abs().max()]
    assert 2 <= len(positive) < 60
    assert row["positive"] == len(positive)
    assert row["log10_product"] == pytest.approx(positive.log10().sum().item(), rel=1e-6)
