"""The density of any model's Hessian: against all eigenvalues of the dense matrix."""

import numpy as np
import pytest
import torch
from seven_models import objective_of, seven

import flatlas

SEVEN = seven()


@pytest.mark.parametrize(
    ("kind", "matrix"), [("transformer", "hessian"), ("MLP with dropout", "gauss_newton")]
)
def test_it_is_the_density_of_all_eigenvalues(kind, matrix):
    model, data, loss, _ = SEVEN[kind]
    options = {"matrix": matrix, "probes": 20, "steps": 20, "top": 8, "width": 0.05}
    found = flatlas.measure(model, data, {"spectral_density": options}, loss=loss)
    taken = found["spectral_density"]
    objective = objective_of(model, data, loss)
    unit = torch.eye(objective.size, dtype=torch.float64)
    dense = getattr(objective, f"{matrix}_product")(unit)
    eigenvalues = torch.linalg.eigvalsh(dense).numpy()
    assert np.trapezoid(taken.density, taken.grid) == pytest.approx(1, abs=1e-6)
    assert taken.ends.norm == pytest.approx(np.abs(eigenvalues).max(), rel=1e-3)
    near = np.abs(eigenvalues) <= 0.01 * taken.ends.norm
    for estimate, exact in (
        (taken.trace, eigenvalues.sum()),
        (taken.frobenius, np.linalg.norm(eigenvalues)),
        (taken.bulk, near.mean()),
    ):
        assert abs(estimate.value - exact) < 4 * estimate.standard_error + 1e-9
    assert taken.outliers == (eigenvalues > taken.edge).sum()
    assert taken.edge == pytest.approx(6 * eigenvalues.std(), rel=0.2)


def test_more_outliers_than_were_looked_for_have_not_converged():
    """Many weights with one example: a single eigenvalue stands out."""
    torch.manual_seed(0)
    model, data = torch.nn.Linear(60, 1), (torch.randn(1, 60), torch.zeros(1, 1))
    found = [
        flatlas.measure(
            model, data, {"spectral_density": {"top": top, "probes": 4}}, loss="mse"
        ).table.set_index("quantity")
        for top in (1, 3)
    ]
    assert [one.value["outliers"] for one in found] == [1, 1]
    assert [one.converged["outliers"] for one in found] == [False, True]


def test_the_edge_has_the_error_of_its_probes():
    """The edge is six standard deviations of all eigenvalues."""
    torch.manual_seed(0)
    model, x = torch.nn.Linear(12, 1, bias=False), torch.randn(20, 12, dtype=torch.float64)
    few = {"spectral_density": {"probes": 6, "steps": 12, "top": 1}}
    rows = [
        flatlas.measure(model, (x, torch.zeros(20, 1)), few, loss="mse", seed=seed)
        .table.set_index("quantity")
        .loc["edge"]
        for seed in range(30)
    ]
    values, errors = (np.array([row[name] for row in rows]) for name in ("value", "error"))
    exact = 6 * torch.linalg.eigvalsh(2 * x.T @ x / 20).std(correction=0).item()
    assert abs(values.mean() - exact) < 4 * values.std(ddof=1) / 30**0.5
    assert np.sqrt((errors**2).mean()) == pytest.approx(values.std(ddof=1), rel=0.4)
