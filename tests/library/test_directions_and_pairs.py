"""Flatness along a trajectory, and the regret of minibatches: in closed form."""

import numpy as np
import pytest
import torch
from seven_models import batches
from torch import nn

import flatlas

RANDOM = torch.Generator().manual_seed(0)


def linear_regression():
    """Squared errors of a linear model with one output: L is a parabola in each direction."""
    x, y = (torch.randn(40, size, generator=RANDOM, dtype=torch.float64) for size in (3, 1))
    torch.manual_seed(0)
    return nn.Linear(3, 1, bias=False).double(), x, y


def test_flatness_along_the_principal_directions_of_known_points():
    """Points on an ellipse, whose axes are the directions."""
    model, x, y = linear_regression()
    model.weight.data = torch.linalg.lstsq(x, y).solution.T
    axes = torch.linalg.qr(torch.randn(3, 3, generator=RANDOM, dtype=torch.float64)).Q[:2]
    angles = torch.arange(8, dtype=torch.float64) * torch.pi / 4
    points = torch.stack([2 * angles.cos(), 0.5 * angles.sin()], 1) @ axes
    states = [{"weight": model.weight.detach() + point} for point in points]
    options = {"trajectory": states, "factor": 3.0, "tolerance": 1e-6}
    found = flatlas.measure(model, (x, y), {"pca_flatness": options}, loss="mse")
    values = found.table.set_index("quantity").value
    least = (y - x @ model.weight.detach().T).square().mean().item()
    for rank, (axis, variance) in enumerate(zip(axes, (2.0, 0.125), strict=True), start=1):
        # L = least + θ² |x·p|²: it is three times the least at θ² = 2 least / |x·p|².
        curved = (x @ axis).square().mean().item()
        assert values[f"flatness_{rank}"] == pytest.approx(2 * (2 * least / curved) ** 0.5, 1e-5)
        assert values[f"variance_{rank}"] == pytest.approx(variance, rel=1e-9)
    assert found.table.converged.all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("places", [(-1.0, 0.0, 0.5, 2.0), (0.0, 1.0, 1.0, 1.0)])
def test_a_trajectory_on_a_line_has_one_direction(places, dtype):
    """Every direction across the line has no variance: which of them is taken is arbitrary."""
    model, x, y = linear_regression()
    step = torch.randn(1, 3, generator=RANDOM, dtype=torch.float64)
    states = [{"weight": (model.weight.detach() + place * step).to(dtype)} for place in places]
    few = {"pca_flatness": {"trajectory": states, "top": 3}}
    found = flatlas.measure(model, (x, y), few, loss="mse")
    assert [*found.table.quantity] == ["flatness_1", "variance_1"]
    along = found["pca_flatness"].directions @ step.flatten().numpy()
    assert abs(along) == pytest.approx(step.norm().item(), rel=1e-5)


@pytest.mark.parametrize("sizes", [[10, 10, 10, 10], [20, 10, 8, 2]])
def test_the_regret_is_that_of_the_gradients_of_pairs(sizes):
    """Also of batches of unequal size, each with its own mean loss."""
    model, x, y = linear_regression()
    data = batches(x, y, sizes)
    found = flatlas.measure(model, data, {"regret": {"radius": 1e-5}}, loss="mse")
    rows = found.table.set_index("quantity")
    gradients = []
    for inputs, target in data:
        (slope,) = torch.autograd.grad((model(inputs) - target).square().mean(), [model.weight])
        gradients.append(slope.flatten().numpy())
    cosines, regrets = [], []
    for first, second in (gradients[:2], gradients[2:]):
        cosines.append(first @ second / np.linalg.norm(first) / np.linalg.norm(second))
        regrets.append(np.linalg.norm(second) * (1 - cosines[-1]))
    assert rows.value["regret"] == pytest.approx(np.mean(regrets), rel=1e-9)
    assert rows.error["regret"] == pytest.approx(np.std(regrets, ddof=1) / 2**0.5, rel=1e-9)
    assert rows.value["dissimilarity"] == pytest.approx(1 - np.mean(cosines), rel=1e-9)
    # In so small a ball the true regret is that to first order.
    assert rows.value["true_regret"] == pytest.approx(1e-5 * np.mean(regrets), rel=1e-2)
    assert rows.converged.all()


def test_the_true_regret_of_parabolas_with_known_minima():
    """The ball has both minima: the regret is f₂ at the minimum of f₁, minus the minimum of f₂."""
    target = torch.tensor([[1.0], [1.0], [-2.0], [-2.0]], dtype=torch.float64)
    data = list(zip(torch.ones(4, 1).double().split(1), target.flip(0).split(1), strict=True))
    model = nn.Linear(1, 1, bias=False).double()
    nn.init.zeros_(model.weight)
    pairs = [data[0], data[3], data[1], data[2]]
    found = flatlas.measure(model, pairs, {"regret": {"radius": 10.0}}, loss="mse")
    # f = (w − t)²: at w = −2 that of t = 1 is 9.
    assert found.table.set_index("quantity").value["true_regret"] == pytest.approx(9, rel=1e-4)


def test_a_batch_whose_labels_are_all_ignored_is_in_no_pair():
    torch.manual_seed(0)
    model, x, y = nn.Linear(3, 3).double(), torch.randn(30, 3).double(), torch.arange(30) % 3
    ignored = y.clone()
    ignored[5:10] = -100
    asked = {"regret": {"radius": 0.1, "damping": 0.1}}
    some, kept = batches(x, ignored, 5), [0, 2, 3, 4, 5]
    found, expected = (
        flatlas.measure(model, data, asked)["regret"] for data in (some, [some[i] for i in kept])
    )
    torch.testing.assert_close(found.local.regret, expected.local.regret, rtol=1e-12, atol=0)
    natural = [one.in_kl_ball.regret for one in (found, expected)]
    torch.testing.assert_close(*natural, rtol=1e-6, atol=0)
    assert found.true == expected.true
    with pytest.raises(flatlas.FlatlasError, match="batches with a label that counts: 3"):
        flatlas.measure(model, some[:4], ["regret"])


@pytest.mark.parametrize(
    ("measures", "said"),
    [
        (["pca_flatness"], "trajectory is missing"),
        ({"pca_flatness": {"trajectory": [3]}}, "trajectory"),
        ({"pca_flatness": {"trajectory": []}}, "at least 3"),
    ],
)
def test_what_is_missing_is_said(measures, said):
    model, x, y = linear_regression()
    with pytest.raises(flatlas.FlatlasError, match=said):
        flatlas.measure(model, (x, y), measures, loss="mse")
