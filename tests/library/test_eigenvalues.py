"""Eigenvalues of a search that ends early: each says whether it has converged."""

import pytest
import torch
from torch import nn
from torch.func import functional_call, hessian, jacrev
from torch.nn import functional

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


class Norm(nn.Module):
    """The norm of Llama: the root of the mean square, in a precision of its own."""

    def __init__(self, inside):
        super().__init__()
        self.inside, self.weight = inside, nn.Parameter(torch.ones(16))

    def forward(self, x):
        h = x.to(self.inside)
        return self.weight * (h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


def normed(inside):
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(6, 16), nn.Tanh(), Norm(inside), nn.Linear(16, 16), nn.Tanh(), Norm(inside),
        nn.Linear(16, 3),
    )  # fmt: skip


@pytest.fixture(scope="module")
def exact():
    """The eigenvalues of both dense matrices of the model that computes all in float64."""
    model, x = normed(torch.float64).double(), X.double()
    shapes = [one.shape for one in model.parameters()]
    w = torch.cat([one.detach().flatten() for one in model.parameters()])

    def logits(w):
        pieces = w.split([shape.numel() for shape in shapes])
        names = dict(model.named_parameters())
        parts = {n: p.view(s) for n, s, p in zip(names, shapes, pieces, strict=True)}
        return functional_call(model, parts, x)

    slopes, shares = jacrev(logits)(w), logits(w).softmax(1)
    curved = shares.diag_embed() - shares.unsqueeze(1) * shares.unsqueeze(2)
    matrices = {
        "hessian": hessian(lambda w: functional.cross_entropy(logits(w), Y))(w),
        "gauss_newton": torch.einsum("ncp,ncd,ndq->pq", slopes, curved, slopes) / len(x),
    }
    return {name: torch.linalg.eigvalsh(one).numpy() for name, one in matrices.items()}


@pytest.mark.filterwarnings("ignore:The model's output for an example depends")
@pytest.mark.parametrize("inside", [torch.float64, torch.float32, torch.bfloat16])
def test_errors_allow_for_parts_that_are_less_precise(inside, exact):
    few = {"top": 2, "probes": 0, "steps": 100, "tolerance": 1e-4}
    found = flatlas.measure(normed(inside), (X, Y), {name: few for name in exact})
    for name, values in exact.items():
        one = found[name]
        assert (abs(one.eigenvalues - values[:-3:-1]) <= one.errors).all()
        assert (abs(one.lowest - values[:1]) <= one.lowest_errors).all()
        assert one.converged == (inside != torch.bfloat16)
    assert found.table.converged.all() == (inside != torch.bfloat16)


def measured(inside, tolerance, dtype=torch.float64):
    """The table's rows, by measure and name."""
    few = {"top": 2, "bottom": 0, "probes": 2, "tolerance": tolerance}
    measures = {
        "hessian": few,
        "gauss_newton": few,
        "spectral_density": {"top": 2, "probes": 2, "steps": 5, "tolerance": tolerance},
        "gradient_noise": {"top": 2, "tolerance": tolerance},
        "relative_flatness": {"weight": "0.weight", "probes": 5},
    }
    batches = [*zip(X.split(10), Y.split(10), strict=True)]
    found = flatlas.measure(normed(inside), batches, measures, dtype=dtype)
    return found.table.set_index(["measure", "quantity"])


def test_only_numbers_of_first_derivatives_converge_in_half_precision():
    found, exact = measured(torch.bfloat16, 0.1), measured(torch.float64, 0.1)
    first = [("gradient_noise", name) for name in ("trace", "scale", "gradient_norm")]
    assert set(found.index[found.converged]) == set(first)
    assert found.value[first].to_numpy() == pytest.approx(exact.value[first].to_numpy(), rel=1e-2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_no_spectrum_converges_below_the_precision_of_products(dtype):
    """Numbers without a tolerance, and those of first derivatives, do."""
    found = measured(torch.float32, 1e-8, dtype).converged
    assert not found[["hessian", "gauss_newton", "spectral_density"]].any()
    assert not found.gradient_noise.share_along_hessian
    assert found.gradient_noise.drop("share_along_hessian").all()
    assert found.relative_flatness.all()
    found = measured(torch.float32, 1e-2, dtype).converged
    assert found.drop("outliers", level="quantity").all()


@pytest.mark.filterwarnings("ignore:The model's output for an example depends")
@pytest.mark.parametrize("inside", [torch.float32, torch.bfloat16])
def test_eigenvectors_of_a_surface_do_not_converge_in_half_precision(inside):
    found = flatlas.surface(normed(inside), (X, Y), "hessian", dimensions=1, points=3)
    assert found.converged == (inside == torch.float32)


@pytest.mark.parametrize("seed", range(3))
def test_errors_allow_for_round_off_of_a_sure_classifier_in_float32(seed):
    """Its curvature is p (1 − p) with small p, of which the round-off is that of the logits."""
    torch.manual_seed(seed)
    x, model = torch.randn(4, 50).double(), nn.Linear(50, 2, bias=False).double()
    with torch.no_grad():
        model.weight *= 10
        margins = model(x).diff(dim=1)
        x *= 10 / margins.abs()
        shares = model(x).softmax(1).prod(1, keepdim=True)
    exact = 2 * torch.linalg.eigvalsh((shares * x).T @ x / 4)[-1].item()
    few = {"hessian": {"top": 1, "bottom": 0, "probes": 0}}
    data = x, (margins[:, 0] > 0).long()
    one = flatlas.measure(model, data, few, dtype=torch.float32)["hessian"]
    assert one.converged
    assert abs(one.eigenvalues[0] - exact) <= one.errors[0]
