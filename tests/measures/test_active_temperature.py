"""The active temperature: a linear model in closed form, and all minibatches one by one."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from recordings import with_recording
from scipy.special import expit

from flatlas.errors import FlatlasError
from flatlas.measures import measure, measure_each
from flatlas.measures.principal import principal_of
from flatlas.measures.solution import Solution
from flatlas.nets import build_net
from flatlas.nets.loss import sample_losses
from flatlas.plan.families.dense import DenseNet

OPTIONS = {"layer": "fc2", "directions": 4, "profiles": [], "batch": 3, "lr": 0.2}


def temperatures(solution, **chosen):
    return measure("active_temperature", solution, OPTIONS | chosen)


@pytest.fixture
def linear():
    """A logistic regression."""
    rng = np.random.default_rng(0)
    net = build_net(DenseNet(family="dense", hidden=()), (1, 2, 3), 1)
    inputs = torch.as_tensor(rng.normal(size=(1, 30, 1, 2, 3)))
    labels = torch.as_tensor(rng.integers(0, 2, (1, 30)))
    weights = {"fc1.weight": torch.as_tensor(rng.normal(size=(1, 6, 1)))}
    clean = labels >= 0
    alone = Solution(net, 0, weights, weights, inputs, labels, clean, inputs, labels)
    return with_recording(alone, "fc1")


def test_a_linear_model(linear):
    """∂l_k/∂δθ = (σ(x_k·(w + δθ p)) − y_k) x_k·p, and T = α/2 S² / B (1 − B/M)."""
    tables = temperatures(linear, layer="fc1", profiles=[2, 4])
    x, y = linear.inputs.flatten(2)[0].numpy(), linear.labels[0].numpy()
    along = x @ principal_of(linear, "fc1", 4).directions.numpy().T
    factor = 0.2 / 2 / 3 * (1 - 3 / 30)
    still = x @ linear.parameters["fc1.weight"][0, :, 0].numpy()
    slopes = (expit(still) - y)[:, None] * along
    found = tables["directions"]["temperature"]
    np.testing.assert_allclose(found, factor * slopes.var(0, ddof=1), rtol=1e-12)
    assert len(tables["profiles"]) == 2 * 41
    for row in tables["profiles"].itertuples():
        mine = along[:, row.rank - 1]
        z = still + row.delta * mine
        slopes = (expit(z) - y) * mine
        assert row.temperature == pytest.approx(factor * slopes.var(ddof=1), rel=1e-9)
        assert row.loss == pytest.approx(np.mean(np.logaddexp(0, z) - y * z), rel=1e-9)


@pytest.mark.parametrize(
    ("net", "layer", "outputs"), [("biases", "fc2", 3), ("convolutional", "fc2", 1)]
)
def test_every_minibatch_there_is(make_solution, net, layer, outputs):
    """All 56 minibatches of 3 of 8 images: ⟨(∂(L^µ − L)/∂δθ)²⟩ by automatic differentiation."""
    solution = with_recording(make_solution(net, outputs, images=8), layer)
    shape = solution.net.dense(layer).fans
    name = f"{layer}.weight"
    rows = temperatures(solution, layer=layer)["directions"]
    for n, direction in enumerate(principal_of(solution, layer, 4).matrices(shape)):

        def losses(step, direction=direction):
            changed = {name: solution.parameters[name] + step * direction}
            logits = solution.net.forward({**solution.parameters, **changed}, solution.inputs)
            return sample_losses(logits, solution.labels)[0]

        def noise(step, images, losses=losses):
            each = losses(step)
            return each[list(images)].mean() - each.mean()

        zero = torch.zeros((), dtype=torch.float64)
        slopes = [
            torch.autograd.functional.jacobian(lambda step, m=m: noise(step, m), zero).item()
            for m in combinations(range(8), 3)
        ]
        assert np.mean(slopes) == pytest.approx(0, abs=1e-12)
        expected = 0.2 / 2 * np.mean(np.square(slopes))
        assert rows["temperature"][n] == pytest.approx(expected, rel=1e-9)
        assert rows["loss"][n] == pytest.approx(losses(0).mean().item(), rel=1e-12)


def test_the_middle_of_a_profile_is_the_solution(make_solution):
    solution = with_recording(make_solution("two_hidden"), "fc2")
    tables = temperatures(solution, profiles=[3, 1])
    middle = tables["profiles"].query("delta == 0").set_index("rank")
    rows = tables["directions"].set_index("rank").loc[[3, 1]]
    assert middle.index.tolist() == [3, 1]
    for name in ("temperature", "loss"):
        np.testing.assert_allclose(middle[name], rows[name], rtol=1e-12)


def test_all_moments_share_the_directions_of_the_recording(make_solution):
    """Each has the temperature that it has alone."""
    last = with_recording(make_solution("two_hidden"), "fc2")
    weights = {name: 0.5 * value for name, value in last.parameters.items()}
    first = replace(last, parameters=weights)
    together = measure_each("active_temperature", [first, last], OPTIONS)
    for tables, solution in zip(together, (first, last), strict=True):
        alone = temperatures(solution)["directions"]
        np.testing.assert_array_equal(tables["directions"], alone)


def test_a_minibatch_of_all_images_is_cold(make_solution):
    solution = with_recording(make_solution("two_hidden"), "fc2")
    assert (temperatures(solution, batch=40)["directions"]["temperature"] == 0).all()
    with pytest.raises(FlatlasError, match=r"minibatches of 41 images .* may be 40 at most"):
        temperatures(solution, batch=41)
