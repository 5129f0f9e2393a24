"""Light searches, traces to a tolerance and ends from a quadrature, against a dense matrix."""

import pytest
import torch
from torch import Tensor

from flatlas.hessian.density import spectral_density
from flatlas.hessian.hutchinson import deflated
from flatlas.hessian.lanczos import search
from flatlas.hessian.quadrature import quadrature

SIZE = 200


def matrix(negative: bool = True) -> Tensor:
    """Ten eigenvalues that stand out of a bulk, as of a trained net, and one below it."""
    values = torch.cat([torch.arange(10.0, 0, -1), torch.linspace(0, 0.3, SIZE - 10)]).double()
    values[-1] = -2 if negative else 0
    q = torch.linalg.qr(torch.randn(SIZE, SIZE, generator=seeded(0), dtype=torch.float64)).Q
    return (q * values) @ q.T


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("top", "bottom"), [(1, 0), (10, 0), (10, 2)])
def test_eigenvalues_are_within_their_residuals(dtype: torch.dtype, top: int, bottom: int) -> None:
    exact, dense = torch.linalg.eigvalsh(matrix()), matrix().to(dtype)
    found, space = search(
        lambda rows: rows @ dense,
        SIZE,
        top,
        seeded(1),
        1e-3,
        max(1, bottom),
        bottom=bottom,
        light=dtype,
    )
    assert found.converged
    assert space.basis.dtype == dtype
    assert found.iterations == space.size < SIZE
    assert len(found.bottom) == bottom
    expected = [(found.top, found.top_residuals, exact.flip(0)[:top])]
    expected.append((found.bottom, found.bottom_residuals, exact[:bottom]))
    for values, residuals, true in expected:
        assert ((values - true).abs() <= residuals + 1e-5).all()
        assert (residuals <= 1e-3 * 10).all()


def test_residuals_are_those_of_the_vectors() -> None:
    dense = matrix()
    found, space = search(lambda rows: rows @ dense, SIZE, 3, seeded(1), 1e-2, light=torch.float64)
    vectors = space.leading(3)
    exact = (vectors @ dense - found.top.unsqueeze(1) * vectors).norm(dim=1)
    torch.testing.assert_close(found.top_residuals, exact, rtol=1e-6, atol=1e-12)


def test_more_eigenvalues_than_the_matrix_has() -> None:
    dense = torch.diag(torch.arange(5.0))
    found, _ = search(lambda rows: rows @ dense, 5, 9, seeded(0), light=torch.float32)
    torch.testing.assert_close(found.top.float(), torch.arange(4.0, -1, -1), rtol=0, atol=1e-5)


def test_a_trace_is_sampled_until_its_error_is_small() -> None:
    dense = matrix(negative=False)
    single = dense.float()
    _, space = search(lambda rows: rows @ single, SIZE, 2, seeded(1), 0.1, light=torch.float32)
    few, _ = deflated(lambda rows: rows @ single, space, 2, seeded(2))
    trace, norm = deflated(lambda rows: rows @ single, space, 2, seeded(2), 1e-2)
    assert trace.standard_error <= 1e-2 * trace.value < few.standard_error
    assert abs(trace.value - dense.trace()) <= 4 * trace.standard_error
    assert abs(norm.value - dense.norm()) <= 4 * norm.standard_error + 1e-4


def test_probes_that_share_products_have_the_same_nodes() -> None:
    dense, taken = matrix(), []

    def product(rows: Tensor) -> Tensor:
        taken.append(len(rows))
        return rows @ dense

    alone = quadrature(product, SIZE, 6, 20, seeded(3))
    passes, together = len(taken), quadrature(product, SIZE, 6, 20, seeded(3), torch.float64)
    assert passes == 120
    assert len(taken) - passes == 40
    torch.testing.assert_close(*(torch.tensor(one.nodes) for one in (alone, together)))
    torch.testing.assert_close(*(torch.tensor(one.weights) for one in (alone, together)))


def test_a_quadrature_has_the_ends_that_its_probes_found() -> None:
    dense, exact = matrix(), torch.linalg.eigvalsh(matrix())
    nodes = quadrature(lambda rows: rows @ dense, SIZE, 2, 50, seeded(3), torch.float64)
    ends = nodes.ends(10, 1e-3)
    assert ends.converged
    assert ((ends.top - exact.flip(0)[:10]).abs() <= ends.top_residuals + 1e-12).all()
    assert abs(ends.lowest - exact[0]) <= ends.bottom_residuals[0] + 1e-12
    assert not nodes.ends(40, 1e-3).converged


def test_a_density_searches_only_what_its_probes_have_not_found() -> None:
    dense, taken = matrix(), []

    def product(rows: Tensor) -> Tensor:
        taken.append(len(rows))
        return rows @ dense

    for steps, enough in ((50, True), (12, False)):
        taken.clear()
        found = spectral_density(product, SIZE, 10, 2, steps, 1e-3, 0.01, seeded(3), torch.float64)
        assert (sum(taken) == 2 * steps) == enough
        assert found.ends.converged
        assert found.ends.top[0].item() == pytest.approx(10, abs=1e-2)
