"""A second task in the layer of a first: plain training, a tether, what is told of both tasks."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from recordings import with_recording
from torch.nn import functional

from flatlas.data.samples import Samples
from flatlas.errors import FlatlasError
from flatlas.measures import forgetting, measure
from flatlas.measures.constraints import LandscapeDependent
from flatlas.measures.forgetting import saturated
from flatlas.plan.training_specs import RunSpec
from flatlas.seeds import generator
from flatlas.training.resume import Resume
from flatlas.training.trainer import train

# The net of the solution that is asked for.
NET, SHAPE = {"family": "dense", "hidden": [9, 6]}, (1, 6, 6)
OPTIONS = {
    "layer": "fc2", "method": "ewc", "flatness": "measured", "strengths": [1.0, 1e12],
    "directions": [5, 54], "epochs": 3, "batch": 8, "lr": 0.1,
}  # fmt: skip
SEED = 3
FREE = (0.0, 0)


def second_task(images=30, tests=12):
    rng = np.random.default_rng(7)
    labels, test_labels = rng.integers(1, 3, (1, images)), rng.integers(1, 3, (1, tests))
    inputs, test_inputs = (
        rng.normal(size=(1, count, *SHAPE)).astype(np.float32) for count in (images, tests)
    )
    clean = np.ones_like(labels, dtype=bool)
    return Samples((SEED,), inputs, labels, clean, test_inputs, test_labels)


@pytest.fixture
def solution(make_solution):
    """Its weights are float32's, that a training may start from them."""
    made = make_solution("two_hidden", seed=SEED)
    short = {name: value.float().double() for name, value in made.parameters.items()}
    recorded = with_recording(replace(made, parameters=short), "fc2", steps=90)
    return replace(recorded, second_task=second_task())


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
    """SGD on the second task written out, explicit tether |w − w1|² and all; the final weights."""
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


def test_unheld_it_is_plain_continued_training(solution):
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


def test_unheld_it_is_the_librarys_own_training_of_one_layer(solution, tmp_path):
    """In one batch, so that the order of the images does not matter."""
    digits = {"source": {"kind": "digits"}, "test_size": 1, "seeds": [SEED]}
    first = {
        "net": NET, "optimizer": {"name": "sgd", "lr": 0.1},
        "batch": "full", "stop": {"epochs": 20}, "samples": digits, "input_shape": SHAPE,
        "outputs": 3, "seeds": [SEED],
    }  # fmt: skip
    spec = RunSpec.model_validate(first | {"start": {"run": first}, "frozen": ["fc1", "fc3"]})
    start = {f"final/{name}": w.float().numpy() for name, w in solution.parameters.items()}
    resume = Resume(tmp_path)
    done = train(spec, solution.second_task, resume, lambda *_, **__: None, start=start)
    moved = done.weights["final/fc2.weight"] - start["final/fc2.weight"]
    q = at(tables(solution, epochs=20, batch=30)["displacements"], FREE)["q"]
    np.testing.assert_allclose(np.sort(q), np.sort(np.abs(moved.ravel())), atol=2e-6)


def test_equal_flatness_in_all_directions_is_a_tether(solution, monkeypatch):
    """Both come to rest where the slope of L_2 + λ |w − w1|² / F², by autograd, vanishes."""
    flatness, strength, lr = 0.5, 3.0, 0.02
    basis, _ = torch.linalg.qr(
        torch.randn(54, 54, generator=torch.Generator().manual_seed(0)).double()
    )
    even = torch.full((54,), flatness).double()
    held = LandscapeDependent(even, torch.ones(54, dtype=torch.bool), basis)
    monkeypatch.setattr(forgetting, "_constraints", lambda *_: held)
    options = {"strengths": [strength], "directions": [54], "epochs": 400, "batch": 30, "lr": lr}
    found = tables(solution, **options)["displacements"]
    tether = strength / flatness**2
    weight = plain(solution, 400, 30, lr, tether)
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
def test_every_point_is_as_if_it_were_alone(solution, method):
    options = {"method": method, "strengths": [0.1, 1.0], "directions": [5, 20]}
    together = tables(solution, **options)
    for strength in (0.1, 1.0):
        for count in (5, 20):
            alone = tables(solution, **options | {"strengths": [strength], "directions": [count]})
            for name in ("errors", "points"):
                one, other = (at(found[name], (strength, count)) for found in (together, alone))
                pd.testing.assert_frame_equal(one, other, rtol=1e-9)
            one, other = (
                at(found["displacements"], (strength, count))["q"].to_numpy()
                for found in (together, alone)
            )
            np.testing.assert_allclose(one[: len(other)], other, rtol=1e-6, atol=1e-12)


def test_a_strong_cost_holds_its_directions_and_no_others(solution):
    for method in ("ldc", "ewc"):
        moved = tables(solution, method=method)["displacements"]
        q = at(moved, (1e12, 5))["q"].to_numpy()
        free = at(moved, FREE)["q"].to_numpy()
        assert (q[:5] < 1e-3 * free[:5].max()).all()
        assert q[5:].max() > 0.1 * free[5:].max()
    everything = at(tables(solution)["errors"], (1e12, 54))
    assert everything["epsilon_1"].nunique() == 1


def test_all_points_start_at_the_solution(solution):
    errors = tables(solution)["errors"]
    start = errors[errors["time"] == 0]
    assert len(start) == 5
    logits = solution.net.forward(solution.parameters, solution.test_inputs)[0]
    wrong = (logits.argmax(1) != solution.test_labels[0]).double().mean().item()
    assert start["epsilon_1"].tolist() == pytest.approx([wrong] * 5)
    # Four minibatches an epoch: a look after each.
    assert errors["time"].unique().tolist() == [look / 4 for look in range(13)]


def test_what_is_told_of_each_point(solution):
    found = tables(solution, epochs=2)
    points = [FREE, *((s, n) for s in (1.0, 1e12) for n in (5, 54))]
    told = found["points"]
    assert list(zip(told["strength"], told["directions"], strict=True)) == points
    assert (told["iterations"] == 8).all() and (told["method"] == "ewc").all()
    moved = found["displacements"]
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
    steep = pd.DataFrame({**rows, "epsilon_1": np.arange(11) / 10})
    assert not saturated(steep)["converged"].any()


def test_without_images_of_a_second_task(solution):
    with pytest.raises(FlatlasError, match="no images of a second task"):
        tables(replace(solution, second_task=None))
