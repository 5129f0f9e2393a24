"""Searches with all copies, traces to a tolerance and shared probes, against a dense matrix."""

import numpy as np
import pytest
import torch
from hessian_systems import rotated, seeded

from flatlas.hessian.complete import complete_search, vectors_held
from flatlas.hessian.density import spectral_density
from flatlas.hessian.hutchinson import deflated
from flatlas.hessian.quadrature import quadrature

SIZE = 200


def matrix(negative=True):
    """Ten eigenvalues that stand out of a bulk, as of a trained net, and one below it."""
    values = torch.cat([torch.arange(10.0, 0, -1), torch.linspace(0, 0.3, SIZE - 10)]).double()
    values[-1] = -2 if negative else 0
    return rotated(values)


def searched(dense, top, tolerance=1e-3, **options):
    return complete_search(
        lambda rows: rows @ dense, len(dense), top, seeded(1), tolerance, torch.float64, **options
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("top", "bottom"), [(1, 0), (10, 0), (10, 2)])
def test_eigenvalues_are_within_their_residuals(dtype, top, bottom):
    exact, dense = torch.linalg.eigvalsh(matrix()), matrix().to(dtype)
    found, space = complete_search(
        lambda rows: rows @ dense, SIZE, top, seeded(1), 1e-3, dtype, bottom
    )
    assert found.converged
    assert space.basis.dtype == dtype
    assert space.size <= found.iterations < SIZE
    assert len(found.bottom) == bottom
    expected = [(found.top, found.top_residuals, exact.flip(0)[:top])]
    expected.append((found.bottom, found.bottom_residuals, exact[:bottom]))
    for values, residuals, true in expected:
        assert ((values - true).abs() <= residuals + 1e-5).all()
        assert (residuals <= 1e-3 * 10).all()


def test_errors_allow_for_what_is_missing_within_the_tolerance():
    """The bulk is as wide as two tolerances, so the search need not find its outermost values."""
    exact = torch.cat([torch.ones(1), torch.linspace(2e-3, 0, 119)]).double()
    found, _ = searched(rotated(exact), 10)
    assert found.converged
    off = (found.top - exact[:10]).abs()
    assert (off > found.top_residuals + 1e-15).any()
    assert (off <= found.top_errors + 1e-15).all()
    assert found.top_errors[0] < 1e-6


def test_errors_are_as_small_as_the_check_allows():
    """The last of four stands out by far: nothing near it can be missing."""
    exact = torch.cat([torch.tensor([10.0, 8, 6, 4]), torch.linspace(0.5, 0, 116)]).double()
    found, _ = searched(rotated(exact), 4)
    assert found.converged
    assert ((found.top - exact[:4]).abs() <= found.top_errors + 1e-12).all()
    assert found.top_errors.max() < 1e-4 * 10


def with_one_below(values):
    """Ten eigenvalues that stand out, with a bulk and one eigenvalue below it, in that order."""
    bulk = 1e-3 * torch.rand(2000, generator=seeded(7), dtype=torch.float64)
    return torch.cat([torch.linspace(1, 0.1, 10).double(), bulk, torch.tensor(values).double()])


def near_identity():
    """One eigenvalue that stands out of many that are nearly equal."""
    bulk = 1e-4 * torch.randn(2000, generator=seeded(7), dtype=torch.float64)
    return torch.cat([torch.tensor([1.1]).double(), 1 + bulk])


SPECTRA = {
    "positive": with_one_below([]),
    "one below": with_one_below([-0.01]),
    "near identity": near_identity(),
    "power law": torch.arange(1, 2000).double().reciprocal(),
    "none": torch.zeros(50).double(),
}


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize(("top", "bottom"), [(1, 0), (1, 1), (2, 1), (5, 1), (5, 2)])
def test_an_end_with_one_eigenvalue_is_within_its_error(name, top, bottom):
    exact = SPECTRA[name].sort(descending=True).values
    for seed in range(3):
        found, _ = complete_search(
            lambda rows: rows * SPECTRA[name],
            len(exact),
            top,
            seeded(seed),
            1e-3,
            torch.float64,
            bottom,
        )
        assert found.converged
        assert ((found.top - exact[:top]).abs() <= found.top_errors + 1e-12).all()
        assert ((found.bottom - exact.flip(0)[:bottom]).abs() <= found.bottom_errors + 1e-12).all()


def test_an_eigenvalue_alone_at_its_end_is_found_where_that_takes_few_products():
    values = SPECTRA["one below"]
    for seed in range(3):
        found, _ = complete_search(
            lambda rows: rows * values, len(values), 1, seeded(seed), 1e-3, torch.float64
        )
        assert found.lowest == pytest.approx(-0.01, abs=2e-3)
        assert found.bottom_errors[0] <= 2e-3


@pytest.mark.parametrize("seed", [0, 1, 179, 226, 227, 242])
def test_no_distinct_eigenvalue_is_missing(seed):
    """Among these ten eigenvalues that stand out of a bulk, a single chain may overlook one."""
    generator = np.random.default_rng(seed)
    outliers, bulk = generator.exponential(10, size=10), generator.normal(scale=1e-2, size=90)
    values = torch.tensor(np.sort([*outliers, *bulk])[::-1].copy())
    found, _ = complete_search(
        lambda rows: rows * values, 100, 10, seeded(seed), 1e-3, torch.float64
    )
    assert found.converged
    assert ((found.top - values[:10]).abs() <= 2e-3 * values[0]).all()


@pytest.mark.parametrize("seed", [6, 29, 36])
def test_a_search_begins_again_after_a_chain_that_took_two_eigenvectors_for_one(seed):
    """These eigenvalues are so close that some pairs lie within a chain's tolerance."""
    wide = np.arange(1, 501) ** -1.5 * np.random.default_rng(seed).lognormal(0, 0.1, 500)
    values = torch.tensor(np.sort(wide)[::-1].copy())
    found, _ = complete_search(
        lambda rows: rows * values, 500, 20, seeded(seed), 1e-3, torch.float64
    )
    assert found.converged
    assert ((found.top - values[:20]).abs() <= 2e-3 * values[0]).all()


def test_residuals_are_bounds_of_those_of_the_vectors():
    dense = matrix()
    found, space = searched(dense, 3, tolerance=1e-2)
    vectors = space.leading(3)
    exact = (vectors @ dense - found.top.unsqueeze(1) * vectors).norm(dim=1)
    assert (exact <= found.top_residuals + 1e-12).all()
    assert (found.top_residuals <= 1e-2 * 10).all()


def test_a_trace_is_sampled_until_its_error_is_small():
    dense = matrix(negative=False)
    single = dense.float()
    _, space = complete_search(
        lambda rows: rows @ single, SIZE, 1, seeded(1), 0.1, torch.float32, bottom=0
    )
    few, _ = deflated(lambda rows: rows @ single, space, 2, seeded(2))
    trace, norm = deflated(lambda rows: rows @ single, space, 2, seeded(2), 5e-3)
    assert trace.standard_error <= 5e-3 * trace.value < few.standard_error
    assert abs(trace.value - dense.trace()) <= 4 * trace.standard_error
    assert abs(norm.value - dense.norm()) <= 4 * norm.standard_error + 1e-4


def test_probes_that_share_products_have_the_same_nodes():
    dense, taken = matrix(), []

    def product(rows):
        taken.append(len(rows))
        return rows @ dense

    alone = quadrature(product, SIZE, 6, 10, seeded(3))
    passes, together = len(taken), quadrature(product, SIZE, 6, 10, seeded(3), torch.float64)
    assert passes == 60
    assert len(taken) - passes == 20
    torch.testing.assert_close(*(torch.tensor(one.nodes) for one in (alone, together)))
    torch.testing.assert_close(*(torch.tensor(one.weights) for one in (alone, together)))


def with_copies(copies):
    """I ⊗ XXᵀ, as of a linear layer with squared errors."""
    x = torch.randn(40, 12, generator=seeded(4), dtype=torch.float64)
    return torch.kron(torch.eye(copies, dtype=torch.float64), x.T @ x / 40)


@pytest.mark.parametrize(("top", "bottom"), [(2, 0), (7, 1), (10, 0), (1, 4), (3, 5)])
def test_all_copies_of_an_eigenvalue_are_found(top, bottom):
    dense = with_copies(5)
    exact = torch.linalg.eigvalsh(dense)
    found, _ = searched(dense, top, bottom=bottom)
    assert found.converged
    assert ((found.top - exact.flip(0)[:top]).abs() <= 1e-3 * exact[-1]).all()
    assert ((found.bottom - exact[:bottom]).abs() <= 1e-3 * exact[-1]).all()


@pytest.mark.parametrize(
    ("dense", "top", "bottom"),
    [
        # More than there are.
        (torch.arange(5.0).diag().double(), 9, 0),
        # Copies that fill the whole space.
        (with_copies(3), 36, 0),
        # Both ends overlap.
        (torch.tensor([3.0, 2.0, -1.0]).diag().double(), 2, 9),
    ],
)
def test_a_search_for_all_eigenvalues_has_each_of_them(dense, top, bottom):
    exact = torch.linalg.eigvalsh(dense)
    found, _ = searched(dense, top, bottom=bottom)
    assert found.converged
    torch.testing.assert_close(found.top, exact.flip(0)[:top], rtol=0, atol=1e-12)
    torch.testing.assert_close(found.bottom, exact[:bottom], rtol=0, atol=1e-12)


def test_a_search_that_ends_before_all_copies_says_how_far_it_may_be_off():
    dense = with_copies(5)
    exact = torch.linalg.eigvalsh(dense).flip(0)[:8]
    for steps in range(2, 8):
        found, _ = searched(dense, 8, bottom=0, steps=steps)
        assert found.converged or found.iterations == steps * 7
        off = (found.top - exact).abs()
        assert not (found.converged and (off > 1e-3 * exact[0]).any())
        assert (off[1:] <= found.top_residuals[1:] + (exact[0] - found.top[0]) + 1e-9).all()


@pytest.mark.parametrize("copies", [1, 3])
def test_a_search_holds_few_vectors_however_many_products_it_takes(copies):
    """A crowded end takes more products than vectors are held."""
    values = torch.linspace(0, 1, 600 // copies, dtype=torch.float64).repeat(copies)
    dense = rotated(values)
    found, space = searched(dense, 2, tolerance=1e-4, steps=200)
    assert found.converged
    assert found.iterations > len(space._basis) <= vectors_held(2, 1)
    assert ((found.top - values.sort(descending=True).values[:2]).abs() <= 2e-4).all()
    orthonormal = space.basis @ space.basis.T
    torch.testing.assert_close(orthonormal, torch.eye(space.size).double(), rtol=0, atol=1e-9)
    inside = space.basis @ dense @ space.basis.T
    torch.testing.assert_close(space.projected, inside, rtol=0, atol=1e-9)
    squared = (space.basis @ dense).square().sum().item()
    assert space.squared == pytest.approx(squared, rel=1e-3)


def test_vectors_that_lose_their_orthogonality_keep_the_density():
    """Ten eigenvalues have long converged: the moments and shares are still those of the probe."""
    dense = matrix()
    nodes = quadrature(lambda rows: rows @ dense, SIZE, 2, 150, seeded(3), torch.float64)
    kept = quadrature(lambda rows: rows @ dense, SIZE, 2, 150, seeded(3))
    for power in (0, 1, 2, 5):
        expected = (kept.weights * kept.nodes**power).sum(1)
        assert (nodes.weights * nodes.nodes**power).sum(1) == pytest.approx(expected, rel=1e-9)
    above, expected = ((one.weights * (one.nodes > 0.5)).sum(1) for one in (nodes, kept))
    assert above == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("light", [None, torch.float64])
def test_the_ends_of_a_density_are_as_exact_as_products(light):
    values = torch.cat([torch.linspace(0, 0.1, SIZE - 2), torch.tensor([1.0, 2.0])]).double()
    dense = rotated(values)

    def ends(round_off):
        options = (SIZE, 2, 2, 30, 5e-3, 0.01, seeded(3), light, round_off)
        return spectral_density(lambda rows: rows @ dense, *options).ends

    assert ends(1e-4).converged and not ends(1e-2).converged
    assert (ends(1e-2).top_residuals >= 0.9 * 1e-2 * 2).all()


def test_a_density_counts_copies_of_an_outlier():
    values = torch.cat([torch.full((3,), 9.0), torch.linspace(0, 0.3, SIZE - 3)]).double()
    dense = rotated(values)
    found = spectral_density(
        lambda rows: rows @ dense, SIZE, 8, 4, 30, 1e-3, 0.01, seeded(3), torch.float64
    )
    assert found.converged
    assert found.outliers == 3
