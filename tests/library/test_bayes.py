"""Learning coefficient, PAC-Bayes flatness and gradient noise of small models."""

from math import log

import numpy as np
import pytest
import torch
from seven_models import batches
from torch import nn

import flatlas


def linear_regression():
    """Gaussian data, and the weights of least squares."""
    random = torch.Generator().manual_seed(0)
    x = torch.randn(500, 3, generator=random, dtype=torch.float64)
    y = x @ torch.randn(3, 2, generator=random, dtype=torch.float64)
    y += 0.1 * torch.randn(500, 2, generator=random, dtype=torch.float64)
    model = nn.Linear(3, 2, bias=False).double()
    model.weight.data = torch.linalg.lstsq(x, y).solution.T
    return model, x, y


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_a_regular_model_has_half_its_dimension(reduction):
    model, x, y = linear_regression()
    data = batches(x, y, 250)
    options = {"steps": 300, "burn_in": 100, "localization": 0.1, "leaps": 2}
    if reduction == "sum":
        options |= {"minibatches": True, "leaps": 1}
    found = flatlas.measure(
        model, data, {"learning_coefficient": options}, loss=nn.MSELoss(reduction=reduction)
    )["learning_coefficient"]
    assert found.losses.shape == (4, 300)
    error = 4 * found.coefficient.standard_error
    assert found.coefficient.value == pytest.approx(3, abs=error + found.minibatch_bias)
    assert error < 1


def test_the_noise_of_a_linear_model_is_the_covariance_of_its_gradients():
    """Batches have one example, and the loss is a mean or a sum; torch computes the covariance."""
    model, x, y = linear_regression()
    x, y = x[:20], y[:20] + 1
    residuals = x @ model.weight.detach().T - y
    gradients = (residuals.unsqueeze(2) * x.unsqueeze(1)).flatten(1)
    expected = gradients.T.cov().trace().item()
    scale = expected / gradients.mean(0).square().sum().item()
    data = batches(x, y, 1)
    for reduction, factor in (("mean", 1), ("sum", 40)):
        found = flatlas.measure(
            model, data, ["gradient_noise"], loss=nn.MSELoss(reduction=reduction)
        )["gradient_noise"]
        assert found.trace.value == pytest.approx(factor**2 * expected, rel=1e-9)
        assert found.scale.value == pytest.approx(scale, rel=1e-9)


def test_two_batches_do_not_say_how_far_their_noise_is_off():
    model, x, y = linear_regression()
    data = batches(x, y, 250)
    rows = flatlas.measure(model, data, ["gradient_noise"], loss="mse").table.set_index("quantity")
    assert np.isinf(rows.error[["trace", "scale", "share_along_hessian"]]).all()


def test_pac_bayes_of_a_linear_model():
    model, x, y = linear_regression()
    x, y = x[:100], y[:100]
    options = {"pairs": 30, "rise": 0.5}
    found = flatlas.measure(model, (x, y), {"pac_bayes": options}, loss="mse")["pac_bayes"]
    # L is the mean of squares over examples and two outputs, so tr H / 2 is E |x|². Residuals are
    # not those of least squares on fewer examples, but their slope has no effect.
    expected = (0.5 / x.square().sum(1).mean().item()) ** 0.5
    sigma = found.sigma.sigma
    assert abs(sigma.value - expected) < 4 * sigma.standard_error
    assert found.bound is None


def test_a_prior_at_the_start_gives_a_smaller_bound():
    """A start close to the solution; and a bound that is valid on new data."""
    random = torch.Generator().manual_seed(0)
    x = torch.randn(4000, 2, generator=random, dtype=torch.float64)
    labels = (x[:, 0] > 0).long()
    model = nn.Linear(2, 2, bias=False).double()
    model.weight.data = torch.tensor([[-3.0, 0.0], [3.0, 0.0]]).double()
    options = {"pairs": 10, "initial": {"weight": 0.9 * model.weight.detach()}}
    near = flatlas.measure(model, (x[:2000], labels[:2000]), {"pac_bayes": options})["pac_bayes"]
    del options["initial"]
    zero = flatlas.measure(model, (x[:2000], labels[:2000]), {"pac_bayes": options})["pac_bayes"]
    assert "error_bound_from_initial" in near.quantities()
    assert near.bound.error.value < zero.bound.error.value < 1
    assert near.bound.divergence == pytest.approx(0.01 * 18 / (2 * near.bound.sigma**2))
    shifts = near.bound.sigma * torch.randn(50, 2, 2, generator=random, dtype=torch.float64)
    predicted = (x[2000:] @ (model.weight.detach() + shifts).mT).argmax(-1)
    assert (predicted != labels[2000:]).double().mean() < near.bound.error.value


def test_a_bound_counts_all_weights_that_the_data_have_changed():
    """Weights that are not chosen must equal those of `initial`."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
    x, y = torch.randn(30, 4), torch.arange(30) % 3
    start = {name: value.clone() for name, value in model.state_dict().items()}
    with torch.no_grad():
        model[2].bias += 0.1

    def taken(chosen, **options):
        few = {"pac_bayes": {"pairs": 2, "tolerance": 0.1, **options}}
        return flatlas.measure(model, (x, y), few, parameters=chosen)["pac_bayes"].bound

    assert taken(None) is not None
    assert taken("2.*") is None
    assert taken("2.bias", initial=start) is not None
    with torch.no_grad():
        model[0].weight += 0.1
    with pytest.raises(flatlas.FlatlasError, match=r"0\.weight"):
        taken("2.bias", initial=start)
    assert taken(["0.weight", "2.bias"], initial=start) is not None


def test_beta_is_one_over_log_n():
    model, x, y = linear_regression()
    few = {"chains": 2, "steps": 4, "burn_in": 4}
    taken = [
        flatlas.measure(model, (x, y), {"learning_coefficient": {**few, **more}}, loss="mse")
        for more in ({}, {"beta": 1 / log(500)}, {"beta": 1.0})
    ]
    one, same, other = (found.table.value[0] for found in taken)
    assert one == same != other


class Counted(list):
    """Batches that count the passes over them."""

    passes = 0

    def __iter__(self):
        self.passes += 1
        return super().__iter__()


def test_each_leap_takes_a_pass():
    model, x, y = linear_regression()
    passes = []
    for leaps in (1, 3):
        data = Counted([(x, y)])
        few = {"chains": 2, "steps": 4, "burn_in": 2, "leaps": leaps}
        flatlas.measure(model, data, {"learning_coefficient": few}, loss="mse")
        passes.append(data.passes)
    assert passes[1] - passes[0] == 2 * 6 * (3 - 1)
