"""The density of a net's eigenvalues, and how many stand out, against its whole Hessian."""

import numpy as np
import pytest
import torch
from solutions import make_solution, whole_hessian

from flatlas.measures import measure

OPTIONS = {"top": 30, "tolerance": 1e-8, "probes": 40, "steps": 40, "width": 0.02}


def test_the_summary_is_that_of_the_whole_hessian_and_the_density_integrates_to_one():
    solution = make_solution("biases")
    tables = measure("spectral_density", solution, OPTIONS)
    (row,), density = tables["summary"].to_dict("records"), tables["density"]
    *_, matrix = whole_hessian(solution)
    eigenvalues = torch.linalg.eigvalsh(matrix)
    assert row["size"] == len(matrix)
    assert row["spectral_norm"] == pytest.approx(eigenvalues.abs().max().item(), rel=1e-9)
    assert row["lowest"] == pytest.approx(eigenvalues.min().item(), rel=1e-6)
    assert row["width"] == pytest.approx(0.02 * row["spectral_norm"])
    for name, exact in (("trace", matrix.trace()), ("frobenius", matrix.norm())):
        assert 0 < abs(row[name] - exact) < 3 * row[f"{name}_error"] < 0.5 * exact
    near = (eigenvalues.abs() <= 0.01 * row["spectral_norm"]).double().mean().item()
    assert abs(row["bulk"] - near) < 3 * row["bulk_error"]
    assert row["edge"] == pytest.approx(6 * eigenvalues.std(correction=0).item(), rel=0.2)
    assert row["outliers"] == (eigenvalues > row["edge"]).sum()
    assert row["converged"]
    area = np.trapezoid(density["density"], density["eigenvalue"])
    assert area == pytest.approx(1, abs=1e-6)


def test_there_may_be_more_outliers_than_eigenvalues_asked_for():
    found = measure("spectral_density", make_solution("biases"), OPTIONS | {"top": 1, "probes": 4})
    assert found["summary"]["outliers"].item() == 1
    assert not found["summary"]["converged"].item()
