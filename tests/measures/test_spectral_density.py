"""The density of a net's eigenvalues, and how many stand out, by its whole Hessian."""

import numpy as np
import pytest
import torch

from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.measures import measure

OPTIONS = {"top": 30, "tolerance": 1e-8, "probes": 40, "steps": 60, "width": 0.02}


def taken(solution, **changed):
    return measure("spectral_density", solution, {**OPTIONS, **changed})


def whole(solution):
    (w,) = flattened(solution.net, solution.parameters)
    loss = MeanLoss(solution.net, solution.inputs, solution.labels)
    return torch.autograd.functional.hessian(loss, w)


def test_the_summary_is_that_of_the_whole_hessian(make_solution):
    solution = make_solution("biases", 3)
    (row,) = taken(solution)["summary"].to_dict("records")
    matrix = whole(solution)
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


def test_the_density_integrates_to_one(make_solution):
    density = taken(make_solution("biases", 3))["density"]
    area = np.trapezoid(density["density"], density["eigenvalue"])
    assert area == pytest.approx(1, abs=1e-6)


def test_where_all_that_were_asked_for_stand_out_there_may_be_more(make_solution):
    row = taken(make_solution("biases", 3), top=1)["summary"].loc[0]
    assert row["outliers"] == 1
    assert not row["converged"]


def test_the_same_bytes_twice(make_solution):
    solution = make_solution("biases")
    first, second = taken(solution, probes=3), taken(solution, probes=3)
    assert all(first[name].equals(second[name]) for name in first)
