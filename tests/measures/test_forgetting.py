"""A second task in a layer of the first: plain training, a tether, and what is recorded."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from solutions import SHAPE, make_solution, with_recording
from torch.nn import functional

from flatlas.data.samples import Samples
from flatlas.measures import forgetting, measure
from flatlas.measures.constraints import LandscapeDependent
from flatlas.measures.forgetting import saturated
from flatlas.seeds import generator

OPTIONS = {
    "layer": "fc2", "method": "ewc", "flatness": "measured", "strengths": [1.0, 1e12],
    "directions": [5, 54], "epochs": 3, "batch": 8, "lr": 0.1,
}  # fmt: skip
SEED = 3
FREE = (0.0, 0)


@pytest.fixture(scope="module")
def solution():
    """A solution with a recording, and images of two classes as its second task."""
    rng = np.random.default_rng(7)
    labels, test_labels = rng.integers(1, 3, (1, 30)), rng.integers(1, 3, (1, 12))
    inputs, test_inputs = (
        rng.normal(size=(1, count, *SHAPE)).astype(np.float32) for count in (30, 12)
    )
    clean = np.ones_like(labels, dtype=bool)
    task = Samples((SEED,), inputs, labels, clean, test_inputs, test_labels)
    recorded = with_recording(make_solution("two_hidden", seed=SEED), "fc2", steps=90)
    return replace(recorded, second_task=task)


def tables(solution, **options):
    return measure("forgetting", solution, OPTIONS | options)


def at(table, point):
    rows = table[(table["strength"] == point[0]) & (table["directions"] == point[1])]
    return rows.drop(columns=["strength", "directions"]).reset_index(drop=True)


def loss(solution, weight, inputs, labels):
    parameters = {**solution.parameters, "fc2.weight": weight.unsqueeze(0)}
    logits = solution.net.forward(parameters, torch.as_tensor(inputs).double().unsqueeze(0))[0]
    return functional.cross_entropy(logits, torch.as_tensor(labels)), logits


def plain(solution, epochs, batch, lr, tether=0.0):
    """The final weights of plain SGD on the second task, with an explicit tether |w − w1|²."""
    images, labels = solution.second_task.inputs[0], solution.second_task.labels[0]
    start = solution.parameters["fc2.weight"][0]
    weight, random = start.clone(), generator(solution.seed, "second task")
    for _ in range(epochs):
        order = random.permutation(len(labels))
        for begin in range(0, len(order), batch):
            chosen = order[begin : begin + batch]
            leaf = weight.clone().requires_grad_()
            total = loss(solution, leaf, images[chosen], labels[chosen])[0]
            (total + tether * (leaf - start).square().sum()).backward()
            weight = weight - lr * leaf.grad
    return weight


def test_without_constraints_it_is_plain_continued_training(solution):
    found = tables(solution)
    weight = plain(solution, 3, 8, 0.1)
    moved = (weight - solution.parameters["fc2.weight"][0]).flatten().abs()
    q = np.sort(at(found["displacements"], FREE)["q"])
    np.testing.assert_allclose(q, moved.sort().values, rtol=1e-9, atol=1e-13)
    last = at(found["errors"], FREE).iloc[-1]
    task = solution.second_task
    loss_2, logits = loss(solution, weight, task.test_inputs[0], task.test_labels[0])
    assert last["loss_2"] == pytest.approx(loss_2.item(), rel=1e-9)
    assert last["epsilon_2"] == np.mean(logits.argmax(1).numpy() != task.test_labels[0])
    _, logits = loss(solution, weight, solution.test_inputs[0], solution.test_labels[0])
    assert last["epsilon_1"] == np.mean((logits.argmax(1) != solution.test_labels[0]).numpy())


def test_equal_flatness_in_all_directions_is_a_tether(solution, monkeypatch):
    """Both end where the slope of L_2 + λ |w − w1|² / F², by autograd, vanishes."""
    flatness, strength, lr = 0.5, 3.0, 0.02
    random = torch.Generator().manual_seed(0)
    basis, _ = torch.linalg.qr(torch.randn(54, 54, generator=random).double())
    even = torch.full((54,), flatness).double()
    held = LandscapeDependent(even, torch.ones(54, dtype=torch.bool), basis)
    monkeypatch.setattr(forgetting, "_constraints", lambda *_: held)
    options = {"strengths": [strength], "directions": [54], "epochs": 80, "batch": 30, "lr": lr}
    found = tables(solution, **options)["displacements"]
    tether = strength / flatness**2
    weight = plain(solution, 80, 30, lr, tether)
    leaf = weight.clone().requires_grad_()
    start = solution.parameters["fc2.weight"][0]
    task = solution.second_task
    total = loss(solution, leaf, task.inputs[0], task.labels[0])[0]
    (total + tether * (leaf - start).square().sum()).backward()
    assert leaf.grad.abs().max() < 1e-9
    expected = (basis @ (weight - start).flatten()).abs()
    np.testing.assert_allclose(at(found, (strength, 54))["q"], expected, atol=1e-8)
    assert expected.max() > 1e-2


@pytest.mark.parametrize("method", ["ldc", "ewc"])
def test_every_point_is_the_same_as_alone(solution, method):
    options = {"method": method, "strengths": [0.1, 1.0], "directions": [5, 20]}
    together = tables(solution, **options)
    for point in ((0.1, 5), (0.1, 20), (1.0, 5), (1.0, 20)):
        alone = tables(solution, method=method, strengths=[point[0]], directions=[point[1]])
        for name in ("errors", "points"):
            one, other = (at(found[name], point) for found in (together, alone))
            pd.testing.assert_frame_equal(one, other, rtol=1e-9)
        one, other = (at(found["displacements"], point)["q"] for found in (together, alone))
        np.testing.assert_allclose(one[: len(other)], other, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("method", ["ldc", "ewc"])
def test_a_strong_cost_holds_its_directions_and_no_others(solution, method):
    found = tables(solution, method=method)
    held, free = (at(found["displacements"], point)["q"].to_numpy() for point in ((1e12, 5), FREE))
    assert (held[:5] < 1e-3 * free[:5].max()).all()
    assert held[5:].max() > 0.1 * free[5:].max()
    assert at(found["errors"], (1e12, 54))["epsilon_1"].nunique() == 1


def test_rows_of_each_point(solution):
    """All points start at the solution, and have a row after each minibatch, four an epoch."""
    found = tables(solution)
    errors, points, moved = (found[name] for name in ("errors", "points", "displacements"))
    assert errors["time"].unique().tolist() == [look / 4 for look in range(13)]
    logits = solution.net.forward(solution.parameters, solution.test_inputs)[0]
    wrong = (logits.argmax(1) != solution.test_labels[0]).double().mean().item()
    assert errors[errors["time"] == 0]["epsilon_1"].tolist() == pytest.approx([wrong] * 5)
    expected = [FREE, *((s, n) for s in (1.0, 1e12) for n in (5, 54))]
    assert list(zip(points["strength"], points["directions"], strict=True)) == expected
    assert (points["iterations"] == 12).all() and (points["method"] == "ewc").all()
    assert len(moved) == 5 * 54 and moved["converged"].all()
    ranks = moved.groupby(["strength", "directions"])["rank"]
    assert all(rank.tolist() == list(range(1, 55)) for _, rank in ranks)
    assert moved.groupby("rank")["flatness"].nunique().eq(1).all()


def test_saturated_is_the_mean_of_the_last_fifth():
    time = np.arange(11) / 4
    rows = {"time": time, "strength": 0.0, "directions": 0, "loss_2": time, "epsilon_2": 0.1}
    epsilon_1 = [0, 1, 1, 1, 1, 1, 1, 0.3, 0.51, 0.40, 0.42]
    (found,) = saturated(pd.DataFrame({**rows, "epsilon_1": epsilon_1})).to_dict("records")
    assert found["epsilon_1"] == pytest.approx(0.41) and found["epsilon_2"] == pytest.approx(0.1)
    assert found["loss_2"] == pytest.approx(time[-2:].mean())
    assert found["residual"] == pytest.approx(0.005) and found["converged"]
    assert found["change_1"] == pytest.approx(0.005)
    steep = saturated(pd.DataFrame({**rows, "epsilon_1": np.arange(11) / 10})).loc[0]
    assert steep["change_1"] == pytest.approx(0.2) and not steep["converged"]
    assert steep["converged_2"]
