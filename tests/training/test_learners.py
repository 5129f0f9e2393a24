"""SSGD and DPSGD: the paper's equations, and the cases in which they are something simpler."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from plain_training import loss_gradient, sgd, shuffles, start
from short_runs import run, samples, trained

from flatlas.errors import FlatlasError
from flatlas.plan.training_specs import Learners
from flatlas.training import learners

SEED, M, B = 0, 3, 4
RING = {"kind": "dpsgd", "count": M, "mixing": "ring"}
NEIGHBOURHOOD = {"kind": "dpsgd", "count": M, "mixing": "neighbourhood"}
FULL = {"kind": "dpsgd", "count": M, "mixing": "full"}
SSGD = {"kind": "ssgd", "count": M}


def by_the_equations(spec, data, gather):
    """Every learner's weights, W_j <- gathered_j - lr gradient_j(w_j) with its own images.

    `gather` gives, for the list of the learners' weights of one parameter, those that they start
    from; SSGD's gradients are the learners' mean (the paper's W_j all equal W_a).
    """
    net, initial = start(spec, SEED)
    orders = shuffles(SEED, data.inputs.shape[1])
    each = [initial] * M
    for _ in range(spec.stop.epochs):
        for shared in next(orders).split(spec.batch * M):
            parts = shared.split(len(shared) // M)
            slopes = [
                loss_gradient(net, w, data.inputs[0][part], data.labels[0][part])
                for w, part in zip(each, parts, strict=True)
            ]
            if spec.learners.kind == "ssgd":
                mean = {name: sum(one[name] for one in slopes) / M for name in initial}
                slopes = [mean] * M
            starts = {name: gather([w[name] for w in each]) for name in initial}
            each = [
                {name: starts[name][j] - spec.optimizer.lr * slopes[j][name] for name in initial}
                for j in range(M)
            ]
    return each


@pytest.mark.parametrize(
    ("kind", "gather"),
    [
        (SSGD, lambda w: w),
        (RING, lambda w: [(w[(j - 1) % M] + w[(j + 1) % M]) / 2 for j in range(M)]),
        (NEIGHBOURHOOD, lambda w: [(w[(j - 1) % M] + w[j] + w[(j + 1) % M]) / 3 for j in range(M)]),
        (FULL, lambda w: [sum(w) / M] * M),
    ],
    ids=["ssgd", "ring", "neighbourhood", "full"],
)
def test_learners_follow_the_papers_equations(tmp_path, kind, gather):
    data = samples((SEED,), count=2 * M * B)
    spec = run(learners=kind, batch=B, seeds=(SEED,))
    done = trained(spec, data, tmp_path).weights
    each = by_the_equations(spec, data, gather)
    for name in each[0]:
        expected = torch.stack([w[name] for w in each]).numpy()
        np.testing.assert_allclose(done[f"final.learners/{name}"][0], expected, atol=1e-5)
        np.testing.assert_allclose(done[f"final/{name}"][0], expected.mean(0), atol=1e-5)


@pytest.mark.parametrize("kind", ["ssgd", "dpsgd"])
@pytest.mark.parametrize("mixing", ["ring", "full"])
def test_one_learner_is_sgd(tmp_path, kind, mixing):
    one = {"kind": kind, "count": 1, "mixing": mixing}
    spec = run(learners=one)
    done = trained(spec, samples(), tmp_path / "learner")
    plain = trained(run(), samples(), tmp_path / "plain")
    for name in ("fc1.weight", "fc3.bias"):
        np.testing.assert_array_equal(done.weights[f"final/{name}"], plain.weights[f"final/{name}"])


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
    """On L = H w²/2: W_j <- gathered_j - lr H W_j, just below and just above what is told."""
    spec = Learners(kind="dpsgd", count=count, mixing=mixing)
    for curved, parts in ((most - 0.01, False), (most + 0.01, True)):
        w = torch.randn(count, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        w -= w.mean()
        for _ in range(1500):
            slope = curved * w
            learners.mix(spec, {"w": w}, {})
            w -= slope
        assert (w.norm() > 1) == parts


def test_ssgd_is_sgd_with_all_learners_images_in_a_batch(tmp_path):
    spec = run(learners=SSGD, batch=B, seeds=(SEED,))
    done = trained(spec, samples((SEED,)), tmp_path).weights
    plain = sgd(run(batch=M * B), samples((SEED,)), SEED)
    for name, value in plain.items():
        np.testing.assert_allclose(done[f"final/{name}"][0], value, atol=1e-5)
        np.testing.assert_array_equal(
            done[f"final.learners/{name}"][0, 0], done[f"final.learners/{name}"][0, 2]
        )


@pytest.mark.parametrize("kind", [FULL, RING])
def test_learners_with_equal_images_never_part(tmp_path, kind):
    """One image, again and again: DPSGD, whatever its mixing, is then SSGD."""
    data = samples((SEED,), count=2 * M * B)
    equal = replace(data, inputs=data.inputs[:, :1].repeat(2 * M * B, 1), labels=data.labels * 0)
    done, ssgd = (
        trained(run(learners=one, batch=B, seeds=(SEED,)), equal, tmp_path / one["kind"]).weights
        for one in (kind, SSGD)
    )
    np.testing.assert_allclose(done["final/fc1.weight"], ssgd["final/fc1.weight"], atol=1e-6)


@pytest.mark.parametrize("batch", [B, "full"])
@pytest.mark.parametrize("rest", [1, 2])
def test_images_that_cannot_be_shared_out_are_left_out(tmp_path, batch, rest):
    """A rest with fewer images than learners makes no step, not even one of the momentum alone."""
    count = 2 * M * B + rest
    momentum = {"name": "momentum", "lr": 0.1}
    spec = run(learners=SSGD, optimizer=momentum, batch=batch, seeds=(SEED,))
    data = samples((SEED,), count=count)
    done = trained(spec, data, tmp_path).weights
    net, weights = start(spec, SEED)
    twin = torch.optim.SGD(weights.values(), lr=0.1, momentum=0.9)
    orders = shuffles(SEED, count)
    for _ in range(spec.stop.epochs):
        for chosen in next(orders)[: 2 * M * B].split(2 * M * B if batch == "full" else M * B):
            slope = loss_gradient(net, weights, data.inputs[0][chosen], data.labels[0][chosen])
            for name, value in weights.items():
                value.grad = slope[name]
            twin.step()
    for name, value in weights.items():
        np.testing.assert_allclose(done[f"final/{name}"][0], value, atol=1e-5)


def test_more_learners_than_images_are_refused(tmp_path):
    spec = run(learners={"kind": "ssgd", "count": 25}, seeds=(SEED,))
    with pytest.raises(FlatlasError, match=r"25 learners .* 24 images"):
        trained(spec, samples((SEED,)), tmp_path)


def test_the_mean_is_over_each_members_own_learners():
    parameters = {"w": torch.arange(6.0).reshape(6, 1)}
    assert learners.mean(parameters, 3)["w"].tolist() == [[1.0], [4.0]]
    assert learners.mean(parameters, 1)["w"].tolist() == parameters["w"].tolist()
    assert learners.spread({"w": torch.tensor([[1.0], [4.0]])}, 2)["w"].tolist() == [
        [1.0],
        [1.0],
        [4.0],
        [4.0],
    ]
