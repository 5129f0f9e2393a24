"""SSGD and DPSGD: the paper's equations, and the cases in which they are something simpler."""

import math

import numpy as np
import pytest
import torch
from plain_training import loss_gradient, shuffles, start
from short_runs import optimizer, run, samples, trained

from flatlas.errors import FlatlasError
from flatlas.plan.training_specs import Learners
from flatlas.training.learners import Together

SEED, M, B = 0, 4, 3
GATHER = {
    "ring": lambda w, j: (w[(j - 1) % M] + w[(j + 1) % M]) / 2,
    "neighbourhood": lambda w, j: (w[(j - 1) % M] + w[j] + w[(j + 1) % M]) / 3,
    "full": lambda w, j: sum(w) / M,
}


@pytest.mark.parametrize("mixing", GATHER)
def test_dpsgd_follows_the_papers_equation(tmp_path, mixing):
    """W_j <- gathered_j - lr gradient_j(W_j), with the learner's own images."""
    data = samples((SEED,), count=2 * M * B)
    learners = {"kind": "dpsgd", "count": M, "mixing": mixing}
    spec = run(learners=learners, batch=B, seeds=(SEED,))
    done = trained(spec, data, tmp_path).weights
    net, initial = start(spec, SEED)
    each, orders = [initial] * M, shuffles(SEED, 2 * M * B)
    for _ in range(spec.stop.epochs):
        for shared in next(orders).split(M * B):
            slopes = [
                loss_gradient(net, w, data.inputs[0][part], data.labels[0][part])
                for w, part in zip(each, shared.split(B), strict=True)
            ]
            gathered = {
                name: [GATHER[mixing]([w[name] for w in each], j) for j in range(M)]
                for name in initial
            }
            each = [
                {name: gathered[name][j] - spec.optimizer.lr * slopes[j][name] for name in initial}
                for j in range(M)
            ]
    for name in initial:
        expected = torch.stack([w[name] for w in each]).numpy()
        np.testing.assert_allclose(done[f"final.learners/{name}"][0], expected, atol=1e-5)
        np.testing.assert_allclose(done[f"final/{name}"][0], expected.mean(0), atol=1e-5)


@pytest.mark.parametrize("batch", [B, "full"])
@pytest.mark.parametrize("rest", [0, 1, 2])
def test_ssgd_is_sgd_on_the_images_of_all_learners(tmp_path, batch, rest):
    """With fewer images left than learners there is no step, not even one of momentum alone."""
    count, whole = 2 * M * B + rest, 2 * M * B
    learners = {"kind": "ssgd", "count": M}
    spec = run(learners=learners, **optimizer("momentum", lr=0.1), batch=batch, seeds=(SEED,))
    data = samples((SEED,), count=count)
    done = trained(spec, data, tmp_path).weights
    net, weights = start(spec, SEED)
    twin = torch.optim.SGD(weights.values(), lr=0.1, momentum=0.9)
    orders = shuffles(SEED, count)
    for _ in range(spec.stop.epochs):
        for chosen in next(orders)[:whole].split(whole if batch == "full" else M * B):
            slope = loss_gradient(net, weights, data.inputs[0][chosen], data.labels[0][chosen])
            for name, value in weights.items():
                value.grad = slope[name]
            twin.step()
    for name, value in weights.items():
        np.testing.assert_allclose(done[f"final/{name}"][0], value, atol=1e-5)
        first, *others = done[f"final.learners/{name}"][0]
        assert all(np.array_equal(one, first) for one in others)


@pytest.mark.parametrize("kind", ["ssgd", "dpsgd"])
@pytest.mark.parametrize("mixing", ["ring", "full"])
def test_one_learner_is_sgd(tmp_path, kind, mixing):
    spec = run(learners={"kind": kind, "count": 1, "mixing": mixing})
    done, plain = (
        trained(one, samples(), tmp_path / str(bool(one.learners))).weights for one in (spec, run())
    )
    for name in ("fc1.weight", "fc3.bias"):
        np.testing.assert_array_equal(done[f"final/{name}"], plain[f"final/{name}"])


@pytest.mark.parametrize(
    ("mixing", "count", "most"),
    [
        ("ring", 4, 0.0),
        ("ring", 16, 0.0),
        ("ring", 5, 1 - math.cos(math.pi / 5)),
        ("ring", 15, 1 - math.cos(math.pi / 15)),
        ("neighbourhood", 16, 2 / 3),
        ("full", 16, 1.0),
    ],
)
def test_learners_part_where_the_loss_is_too_curved_for_their_mixing(mixing, count, most):
    """On L = H w²/2: W_j <- gathered_j - lr H W_j, with lr H just below and just above `most`."""
    team = Together(Learners(kind="dpsgd", count=count, mixing=mixing))
    for curved, parts in ((most - 0.01, False), (most + 0.01, True)):
        w = torch.randn(count, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        w -= w.mean()
        for _ in range(1500):
            slope = curved * w
            team.mix({"w": w}, {})
            w -= slope
        assert (w.norm() > 1) == parts


def test_more_learners_than_images_are_refused(tmp_path):
    spec = run(learners={"kind": "ssgd", "count": 25}, seeds=(SEED,))
    with pytest.raises(FlatlasError, match=r"25 learners .* 24 images"):
        trained(spec, samples((SEED,)), tmp_path)
