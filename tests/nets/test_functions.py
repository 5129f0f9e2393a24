"""The functions of random nets: against closed forms, symmetries, and a separate sampler."""

from collections import Counter
from itertools import islice, product
from math import asin, pi, sqrt

import numpy as np
import pytest
import torch
from net_stacks import dense, stacked

from flatlas.nets import build_net, functions
from flatlas.nets.functions import count_functions, expressed, packed, random_functions
from flatlas.plan.initializations import ScaledNormal

WEIGHT_STD, BIAS_STD = 1.5, 0.4
INIT = ScaledNormal(scheme="scaled_normal", weight_std=WEIGHT_STD, bias_std=BIAS_STD)


def domain(bits):
    """All inputs, counted up."""
    return np.array(list(product([0, 1], repeat=bits)), dtype=np.float32)


def system(bits, *hidden):
    """A net with biases, and all of its inputs."""
    net = build_net(dense(*hidden, bias=True, init=INIT), (1, 1, bits), 1)
    return net, torch.from_numpy(domain(bits))[:, None, None]


def counted(bits, *hidden, draws):
    """How often random nets express each function: P(f) by sampling."""
    net, inputs = system(bits, *hidden)
    return count_functions(net, inputs, draws, lambda *steps, **facts: None)


def packed_string(*labels):
    """A function by its labels, first to last."""
    eights = [labels[first : first + 8] for first in range(0, len(labels), 8)]
    return bytes(int("".join(map(str, eight)).ljust(8, "0"), 2) for eight in eights)


@pytest.fixture(autouse=True)
def _large_blocks(monkeypatch):
    """Nets as small as these are faster a thousand at a time."""
    monkeypatch.setattr(functions, "BLOCK", 1000)


def perceptron_prior():
    """P(f) of w₁x₁ + w₂x₂ + b > 0 on two bits, in closed form.

    The four outputs are Gaussian, so P(signs s) is (1 + Σ sᵢsⱼ (2/π) asin ρᵢⱼ + s₁s₂s₃s₄ E₄) / 16,
    and E₄ follows from what no line can do: P(XOR) = 0.
    """
    x = domain(2).astype(float)
    covariance = BIAS_STD**2 + WEIGHT_STD**2 / 2 * x @ x.T
    spread = np.sqrt(np.diag(covariance))
    agreement = np.vectorize(asin)((covariance / np.outer(spread, spread)).clip(-1, 1)) * 2 / pi

    def pairs(signs):
        return sum(signs[i] * signs[j] * agreement[i, j] for i in range(4) for j in range(i))

    fourth = -1 - pairs((-1, 1, 1, -1))
    return {
        labels: (1 + pairs(signs) + np.prod(signs) * fourth) / 16
        for labels in product((0, 1), repeat=4)
        for signs in [[2 * label - 1 for label in labels]]
    }


def test_a_perceptron_has_the_prior_of_the_closed_form():
    draws = 200_000
    prior = perceptron_prior()
    assert sum(prior.values()) == pytest.approx(1)
    found = counted(2, draws=draws)
    for labels, probability in prior.items():
        count = found[packed_string(*labels)]
        spread = sqrt(draws * probability * (1 - probability)) if probability > 0 else 0
        assert abs(count - draws * probability) <= 4.5 * spread + 1e-9
    assert found.total() == draws and len(found) == 14


def plain_count(bits, width, draws):
    """One hidden layer in numpy, in float64, from its own stream."""
    rng = np.random.default_rng(1)
    x = domain(bits).astype(float)
    w = rng.normal(0, WEIGHT_STD / sqrt(bits), (draws, bits, width))
    b = rng.normal(0, BIAS_STD, (draws, 1, width))
    v = rng.normal(0, WEIGHT_STD / sqrt(width), (draws, width))
    c = rng.normal(0, BIAS_STD, (draws, 1))
    logits = np.einsum("dxh,dh->dx", np.maximum(x @ w + b, 0), v) + c
    return Counter(packed(torch.from_numpy(logits > 0)))


def test_a_hidden_layer_has_the_prior_that_another_sampler_finds():
    draws = 100_000
    found, other = counted(3, 5, draws=draws), plain_count(3, 5, draws)
    frequent = [function for function, count in other.items() if count >= 50]
    assert len(frequent) > 100
    differences = np.array([found[one] - other[one] for one in frequent])
    deviation = differences / np.sqrt([found[one] + other[one] for one in frequent])
    assert np.abs(deviation).max() < 4.5
    assert np.mean(deviation**2) == pytest.approx(1, abs=5 * sqrt(2 / len(frequent)))


def test_a_net_expresses_the_signs_of_its_logits():
    net, parameters, images = stacked(dense(6, 5, bias=True), (1, 1, 4), 1)
    for member, function in enumerate(expressed(net, parameters, images[0])):
        weights, biases = (
            [parameters[f"fc{n}.{kind}"][member].numpy() for n in (1, 2, 3)]
            for kind in ("weight", "bias")
        )
        a = images[0].flatten(1).numpy()
        for weight, bias in zip(weights[:2], biases[:2], strict=True):
            a = np.maximum(a @ weight + bias, 0)
        logits = (a @ weights[2] + biases[2])[:, 0]
        assert function == packed_string(*(logits > 0).astype(int))


def test_labels_are_packed_eight_to_a_byte_from_the_highest_bit():
    labels = torch.tensor([[1, 0, 0, 0, 0, 0, 1, 1, 0, 1], [0] * 10])
    assert packed(labels) == [b"\x83\x40", b"\x00\x00"]


def test_later_draws_count_only_functions_that_came_up_twice_in_the_first(monkeypatch):
    monkeypatch.setattr(functions, "SEARCHED", 3000)
    monkeypatch.setattr(functions, "REPORTED", 1000)
    drawn = list(islice(random_functions(*system(4, 8)), 10_500))
    first, everything = Counter(drawn[:3000]), Counter(drawn)
    assert any(count == 1 and everything[one] > 1 for one, count in first.items())
    expected = {one: everything[one] for one, count in first.items() if count > 1}
    # Equal although it draws again: the draws are the same.
    assert counted(4, 8, draws=10_500) == expected
    once = Counter(drawn[:2500])
    assert counted(4, 8, draws=2500) == {one: n for one, n in once.items() if n > 1}


def test_progress_is_reported():
    reports = []
    net, inputs = system(2)
    count_functions(net, inputs, 150_000, lambda *steps, **facts: reports.append((steps, facts)))
    facts = {"functions": 14}
    assert reports[0] == ((0, 150_000), {}), "the time left counts from here"
    assert reports[1:] == [((100_000, 150_000), facts), ((150_000, 150_000), facts)]
