"""Eigenvalues of a search that ends early: each says whether it has converged."""

import pytest
import torch
from torch import nn

import flatlas

X, Y = torch.randn(40, 6, generator=torch.Generator().manual_seed(0)), torch.arange(40) % 3


def found(**options):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    few = {"top": 1, "probes": 2, "tolerance": 1e-6, **options}
    return flatlas.measure(model, (X, Y), {"hessian": few})


def test_each_eigenvalue_has_converged_by_its_own_error():
    few = found(steps=20)
    assert few["hessian"].iterations == 20
    rows = few.table.set_index("quantity")
    largest = rows.value["eigenvalue_1"]
    for name in ("eigenvalue_1", "lowest_1"):
        assert rows.converged[name] == (rows.error[name] <= 1e-6 * largest)
    assert rows.converged["eigenvalue_1"] > rows.converged["lowest_1"]
    assert not few["hessian"].converged


def test_more_steps_converge():
    more = found()
    assert more.table.converged.all()
    assert more["hessian"].iterations > 20


def test_without_the_lowest_a_search_has_room_for_all_it_looks_for():
    alone = found(top=1, bottom=0, steps=30)
    assert alone["hessian"].iterations <= 30
    assert alone.table.set_index("quantity").converged["eigenvalue_1"]
    exact = found(top=5)["hessian"].eigenvalues
    few = found(top=5, bottom=0, steps=1)["hessian"]
    assert few.iterations == 5
    assert (few.eigenvalues[:-1] >= few.eigenvalues[1:]).all()
    assert (few.eigenvalues <= exact + few.residuals).all()


@pytest.mark.parametrize("top", [2, 10, 12])
def test_an_eigenvalue_of_several_outputs_counts_for_each(top):
    """A linear layer with squared errors: each eigenvalue is there ten times."""
    torch.manual_seed(0)
    model, x = nn.Linear(30, 10, bias=False), torch.randn(200, 30, dtype=torch.float64)
    few = {"hessian": {"top": top, "probes": 0}}
    result = flatlas.measure(model, (x, torch.randn(200, 10)), few, loss="mse")["hessian"]
    exact = torch.linalg.eigvalsh(2 * x.T @ x / 2000).flip(0).repeat_interleave(10)[:top]
    assert result.converged
    assert result.eigenvalues == pytest.approx(exact.numpy(), rel=1e-3)
