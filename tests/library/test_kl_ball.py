"""The regret in a ball of KL divergence: by enumeration, and by a dense matrix."""

import numpy as np
import pytest
import torch
from scipy.optimize import brentq
from seven_models import batches, seven
from torch import nn

import flatlas
from flatlas.hessian import natural

RANDOM = torch.Generator().manual_seed(0)
X = torch.randn(24, 2, generator=RANDOM, dtype=torch.float64)
LABELS = (X[:, 0] + 0.5 * torch.randn(24, generator=RANDOM) > 0).long()


def kl_of(model, data, damping, loss="cross_entropy"):
    table = flatlas.measure(model, data, {"regret": {"damping": damping}}, loss=loss).table
    assert table.converged.all()
    values = table.set_index("quantity").value
    return values[["kl_regret", "kl_dissimilarity", "kl_norm"]].to_numpy()


def logistic():
    model = nn.Linear(2, 1, bias=False).double()
    model.weight.data = torch.tensor([[0.8, -0.3]], dtype=torch.float64)
    return model


def test_it_is_that_of_minima_found_in_the_ball_itself():
    """A small ball of ½ (KL(p‖q) + KL(q‖p)) ≤ ½ ε², by its boundary in all directions."""
    radius, x, w = 1e-3, X.numpy(), np.array([0.8, -0.3])
    y = LABELS.numpy()

    def losses(points, rows):
        z = points @ x[rows].T
        return (np.logaddexp(0, z) - y[rows] * z).mean(-1)

    def divergence(w2):
        p, q = (1 / (1 + np.exp(-x @ at)) for at in (w, w2))
        return ((p - q) * (x @ w - x @ w2)).mean() / 2

    angles = np.linspace(0, 2 * np.pi, 20_001)
    units = np.stack([np.cos(angles), np.sin(angles)], 1)
    some = [
        brentq(lambda r, u=u: divergence(w + r * u) - radius**2 / 2, 0, 1, xtol=1e-15)
        for u in units[::100]
    ]
    edge = w + np.interp(angles, angles[::100], some)[:, None] * units
    regrets = []
    for first, second in ((0, 1), (2, 3)):
        of_first, of_second = (losses(edge, slice(6 * n, 6 * n + 6)) for n in (first, second))
        regrets.append((of_second[of_first.argmin()] - of_second.min()) / radius)
    data = batches(X, LABELS.double().unsqueeze(1), 6)
    found = kl_of(logistic(), data, 0.0, "bce")
    assert found[0] == pytest.approx(np.mean(regrets), rel=0.02)


def relu_net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3)).double()


CLASSES = torch.arange(24) % 3
ROWS = pytest.mark.parametrize("numbers", [natural.NUMBERS, 0], ids=["decomposed", "free"])


@ROWS
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_it_is_a_solve_with_the_expected_outer_product_of_scores(numbers, reduction, monkeypatch):
    """Every label in turn, weighted with its probability; ignored examples do not count."""
    monkeypatch.setattr(natural, "NUMBERS", numbers)
    model, labels = relu_net(), CLASSES.clone()
    labels[2] = -100
    loss = nn.CrossEntropyLoss(reduction=reduction)
    found = kl_of(model, batches(X, labels, 6), 0.3, loss)
    parameters = list(model.parameters())

    def slope(value):
        return torch.cat([g.flatten() for g in torch.autograd.grad(value, parameters)])

    counted = [n for n in range(24) if n != 2]
    size = sum(one.numel() for one in parameters)
    fisher = torch.zeros(size, size, dtype=torch.float64)
    for n in counted:
        for label in range(3):
            log_p = model(X[n : n + 1]).log_softmax(1)[0, label]
            score = slope(log_p)
            fisher += log_p.exp().detach() * torch.outer(score, score) / len(counted)
    g = [slope(loss(model(x), y)) for x, y in batches(X, labels, 6)]
    live = fisher.diagonal() > 0
    damped = (fisher + 0.3 * fisher.diagonal().diag())[live][:, live]
    expected = []
    for one, two in (g[:2], g[2:]):
        rows = torch.stack([one[live], two[live]])
        products = rows @ torch.linalg.solve(damped, rows.T)
        norms = products.diagonal().sqrt()
        apart = 1 - (products[0, 1] / norms.prod()).item()
        expected.append([norms[1].item() * apart, apart, norms.mean().item()])
    np.testing.assert_allclose(found, np.mean(expected, 0), rtol=1e-6)


@pytest.mark.parametrize("kind", ["LSTM", "ResNet with batch norm"])
def test_other_classifiers_have_it(kind):
    model, data, loss, parameters = seven()[kind]
    inputs, target = (torch.cat(parts) for parts in zip(*data, strict=True))
    asked = {"regret": {"damping": 0.1}}
    table = flatlas.measure(
        model, batches(inputs[:4], target[:4], 1), asked, loss=loss, parameters=parameters
    ).table
    assert np.isfinite(table.value).all() and table.converged.all()


@pytest.mark.parametrize(
    "loss",
    ["mse", nn.CrossEntropyLoss(weight=torch.ones(3)), lambda z, y: z.square().mean()],
)
def test_other_losses_have_no_predictions(loss):
    target = torch.zeros(24, 3) if loss == "mse" else CLASSES
    asked = {"regret": {"damping": 0.1}}
    with pytest.raises(flatlas.FlatlasError, match="KL divergence needs"):
        flatlas.measure(relu_net(), batches(X, target, 6), asked, loss=loss)
