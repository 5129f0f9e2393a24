"""SAM and ASAM against their definitions, and their place in a training."""

from pathlib import Path

import numpy as np
import pytest
import torch
from kernels import needs_compiler
from plain_training import loss_gradient, shuffles, start
from short_runs import CONVOLUTIONAL, DROPOUT, NORMED, optimizer, run, samples, trained

from flatlas.plan.training_specs import Sam
from flatlas.training.backend import find_kernel
from flatlas.training.optimizers import build_optimizer

SEEDS = (0, 1, 2)


def sam(parameters, **options):
    return build_optimizer(Sam(name="sam", lr=0.1, **options), parameters, [])


def test_the_ascent_by_hand():
    """Two rows: (3, 4) has length 5; w² g/|w g| of w = (2, -1), g = (2, 3) has |w g| = 5."""
    w = {"a": torch.tensor([[1.0], [2.0]]), "b": torch.tensor([[1.0], [-1.0]])}
    g = {"a": torch.tensor([[3.0], [2.0]]), "b": torch.tensor([[4.0], [3.0]])}
    plain = sam(w, radius=0.5).ascended(g)
    torch.testing.assert_close(plain["a"][0], torch.tensor([1.3]))
    torch.testing.assert_close(plain["b"][0], torch.tensor([1.4]))
    adaptive = sam(w, radius=0.5, adaptive=True).ascended(g)
    torch.testing.assert_close(adaptive["a"][1], torch.tensor([2.8]))
    torch.testing.assert_close(adaptive["b"][1], torch.tensor([-0.7]))


@pytest.mark.parametrize("slope", [0.0, 1e-25])
@pytest.mark.parametrize("adaptive", [False, True])
def test_without_a_gradient_it_stays(adaptive, slope):
    """Also with one whose square is zero in float32."""
    w = {"a": torch.ones(2, 3)}
    assert torch.equal(sam(w, adaptive=adaptive).ascended({"a": w["a"] * slope})["a"], w["a"])


def by_definition(spec, data, seed):
    """One member's weights after all epochs, in float64 from the same float32 weights."""
    net, initial = start(spec, seed)
    w = {name: value.double() for name, value in initial.items()}
    moving = [name for name in w if name.partition(".")[0] not in (spec.frozen or ())]
    inputs, labels = torch.from_numpy(data.inputs[0]).double(), torch.from_numpy(data.labels[0])
    orders = shuffles(seed, len(labels))
    for _ in range(spec.stop.epochs):
        for chosen in next(orders).split(spec.batch):
            g = loss_gradient(net, w, inputs[chosen], labels[chosen])
            t = {k: w[k].abs() if spec.optimizer.adaptive else 1.0 for k in moving}
            length = torch.cat([(t[k] * g[k]).flatten() for k in moving]).norm()
            up = {k: w[k] + spec.optimizer.radius * t[k] ** 2 * g[k] / length for k in moving}
            g = loss_gradient(net, w | up, inputs[chosen], labels[chosen])
            for k in moving:
                w[k] = w[k] - spec.optimizer.lr * (g[k] + 2 * spec.penalty.coefficient * w[k])
    return w


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_compiler)])
@pytest.mark.parametrize("adaptive", [False, True])
def test_a_training_follows_the_definition(tmp_path, adaptive, compiled):
    """With a penalty, which is outside the maximum over ε, and a frozen layer."""
    options = {"lr": 0.1, "radius": 0.2, "adaptive": adaptive}
    penalty = {"form": "squared", "coefficient": 0.05}
    spec = run(**optimizer("sam", **options), penalty=penalty, frozen=("fc2",))
    kernel = find_kernel() if compiled else None
    found = trained(spec, samples(SEEDS), tmp_path, kernel).weights
    for row, seed in enumerate(SEEDS):
        for name, value in by_definition(spec, samples((seed,)), seed).items():
            np.testing.assert_allclose(found[f"final/{name}"][row], value, atol=2e-5)


TINY = {
    "dropout": DROPOUT,
    "dropout, learners": DROPOUT | {"learners": {"kind": "dpsgd", "count": 3}, "batch": 2},
    "common gradient": DROPOUT | {"learners": {"kind": "ssgd", "count": 2}, "batch": 2},
    "convolutional": CONVOLUTIONAL,
    "batch norm": NORMED,
    "a module that draws": {
        "net": {"family": "own", "module": "dropping:Dropping", "arguments": {"width": 8}}
    },
}


@pytest.mark.parametrize("case", TINY)
def test_with_no_radius_it_is_sgd(tmp_path, monkeypatch, case):
    """Also where minibatches draw dropout masks: both gradients have those that SGD's has."""
    monkeypatch.chdir(Path(__file__).parent)
    data = samples(SEEDS, shape=TINY[case].get("input_shape", (1, 2, 3)))
    first, second = (
        trained(run(**TINY[case], **chosen), data, tmp_path / name).weights
        for name, chosen in (
            ("sgd", optimizer("sgd", lr=0.1)),
            ("sam", optimizer("sam", lr=0.1, radius=1e-12)),
        )
    )
    for name, value in first.items():
        np.testing.assert_allclose(second[name], value, atol=1e-6)
