"""The active temperature: a linear model in closed form, and all minibatches one by one."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from scipy.special import expit
from solutions import along, make_solution
from torch.autograd.functional import jacobian

from flatlas.measures import measure, measure_each
from flatlas.measures.principal import principal_of

OPTIONS = {"layer": "fc2", "directions": 4, "profiles": [], "batch": 3, "lr": 0.2}


def temperatures(solution, **chosen):
    return measure("active_temperature", solution, OPTIONS | chosen)


def test_a_linear_model():
    """∂l_k/∂δθ = (σ(z_k + δθ x_k·p) − y_k) x_k·p, and T = α/2 S² / B (1 − B/M)."""
    linear = make_solution("logistic", 1, images=30, shape=(1, 2, 3), layer="fc1")
    tables = temperatures(linear, layer="fc1", profiles=[2, 4])
    x, y = linear.inputs.flatten(2)[0].numpy(), linear.labels[0].numpy()
    projected = x @ principal_of(linear, "fc1", 4).directions.numpy().T
    factor = 0.2 / 2 / 3 * (1 - 3 / 30)
    still = linear.net.forward(linear.parameters, linear.inputs).flatten().numpy()
    slopes = (expit(still) - y)[:, None] * projected
    found = tables["directions"]["temperature"]
    np.testing.assert_allclose(found, factor * slopes.var(0, ddof=1), rtol=1e-12)
    assert len(tables["profiles"]) == 2 * 41
    for row in tables["profiles"].itertuples():
        mine = projected[:, row.rank - 1]
        z = still + row.delta * mine
        slopes = (expit(z) - y) * mine
        assert row.temperature == pytest.approx(factor * slopes.var(ddof=1), rel=1e-9)
        assert row.loss == pytest.approx(np.mean(np.logaddexp(0, z) - y * z), rel=1e-9)


@pytest.mark.parametrize(("net", "outputs"), [("biases", 3), ("convolutional", 1)])
def test_the_temperature_is_the_mean_over_all_minibatches(net, outputs):
    """All 56 minibatches of 3 of 8 images: ⟨(∂(L^µ − L)/∂δθ)²⟩ by automatic differentiation."""
    solution = make_solution(net, outputs, images=8, layer="fc2")
    rows = temperatures(solution)["directions"]
    losses, weights = along(solution, "fc2")
    minibatches = np.array([*combinations(range(8), 3)])
    for n, direction in enumerate(principal_of(solution, "fc2", 4).directions):
        zero = torch.zeros((), dtype=torch.float64)
        slopes = jacobian(lambda step, p=direction: losses(weights + step * p), zero).numpy()
        noise = slopes[minibatches].mean(1) - slopes.mean()
        expected = 0.2 / 2 * np.mean(noise**2)
        assert rows["temperature"][n] == pytest.approx(expected, rel=1e-9)
        assert rows["loss"][n] == pytest.approx(losses(weights).mean().item(), rel=1e-12)


def test_all_moments_share_the_directions_of_the_recording():
    """Each moment has the same temperature as when it is measured alone."""
    last = make_solution("two_hidden", layer="fc2")
    weights = {name: 0.5 * value for name, value in last.parameters.items()}
    first = replace(last, parameters=weights)
    together = measure_each("active_temperature", [first, last], OPTIONS)
    for tables, solution in zip(together, (first, last), strict=True):
        alone = temperatures(solution)["directions"]
        np.testing.assert_array_equal(tables["directions"], alone)
