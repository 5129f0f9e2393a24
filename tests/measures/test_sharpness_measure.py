"""Sharpness against all corners of a small box, its limit for a tiny one, and three ascents."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.measures import sharpness
from flatlas.measures.dense_ascent import DenseAscent
from flatlas.measures.sharpness import Ascent, _tables, measure_stack
from flatlas.nets import build_net
from flatlas.plan.families.dense import DenseNet
from flatlas.seeds import stream

SGD = {"by": "sgd", "box": 0.01, "batch": 8, "lr": 0.05, "epochs": 30}
WAYS = [{**SGD, "by": by} for by in ("sgd", "lbfgs", "corners")]
NAMES = [way["by"] for way in WAYS]


def summary(solution, options):
    return measure_stack([solution], options)[0]["summary"].loc[0]


def two_parameters(make_solution):
    """A weight and a bias on images of one pixel: logistic regression, whose loss is convex."""
    solution = make_solution("biases", 1, images=24)
    net = build_net(DenseNet(family="dense", hidden=(), bias=True), (1, 1, 1), 1)
    parameters = {
        "fc1.weight": torch.tensor([[[0.7]]], dtype=torch.float64),
        "fc1.bias": torch.tensor([[-0.2]], dtype=torch.float64),
    }
    return replace(solution, net=net, parameters=parameters, inputs=solution.inputs[..., 2:3, 2:3])


def brute_force(solution, box):
    """100 (max L − L(w)) / (1 + L(w)) over a grid of the box, its corners among it."""
    loss = MeanLoss(solution.net, solution.inputs, solution.labels)
    (w,) = flattened(solution.net, solution.parameters)
    steps = torch.linspace(-1, 1, 41, dtype=torch.float64)
    points = torch.stack([w + torch.stack(u) * box * (w.abs() + 1) for u in product(steps, steps)])
    origin = loss(w)
    return (100 * (loss(points).max() - origin) / (1 + origin)).item()


@pytest.mark.parametrize("box", [0.001, 0.1])
@pytest.mark.parametrize("way", WAYS, ids=NAMES)
def test_the_best_corner_of_two_parameters(make_solution, way, box):
    solution = two_parameters(make_solution)
    row = summary(solution, {**way, "box": box, "lr": box, "batch": 24, "epochs": 200})
    expected = brute_force(solution, box)
    assert row["sharpness"] == pytest.approx(expected, rel=1e-9)
    assert row["last"] == pytest.approx(expected, rel=1e-9)
    assert row["converged"]


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
def test_an_ascent_finds_no_more_than_there_is(make_solution, way):
    """In a wide box it ends at a corner where the loss is largest nearby, and not everywhere."""
    solution = two_parameters(make_solution)
    row = summary(solution, {**way, "box": 2.0, "lr": 2.0, "epochs": 100})
    assert 0.5 * brute_force(solution, 2.0) < row["sharpness"] < brute_force(solution, 2.0)


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
def test_a_tiny_box_sees_the_gradient_alone(make_solution, way):
    solution = make_solution("biases", 3)
    row = summary(solution, {**way, "box": 1e-7, "lr": 1e-2, "batch": 40})
    assert row["sharpness"] == pytest.approx(row["first_order"], rel=1e-4)
    assert row["rest"] == row["sharpness"] - row["first_order"]


def test_the_first_order_part_is_a_difference_quotient(make_solution):
    """Along the corner that the gradient points to."""
    solution = make_solution("biases", 3)
    row = summary(solution, WAYS[2])
    loss = MeanLoss(solution.net, solution.inputs, solution.labels)
    w = flattened(solution.net, solution.parameters)[0].requires_grad_()
    (g,) = torch.autograd.grad(loss(w), w)
    corner = g.sign() * SGD["box"] * (w.abs() + 1)
    small = 1e-6
    slope = (loss(w + small * corner) - loss(w - small * corner)) / (2 * small)
    expected = 100 * slope / (1 + loss(w))
    assert row["first_order"] == pytest.approx(expected.item(), rel=1e-6)
    assert row["gradient_norm"] == pytest.approx(g.norm().item(), rel=1e-12)
    assert row["loss"] == pytest.approx(loss(w).item(), rel=1e-12)


@pytest.mark.parametrize("net", ["biases", "convolutional"])
def test_three_ascents_agree(make_solution, net):
    """To a few hundredths: ReLUs make a box of several summits, and each may find another."""
    options = {"box": 0.005, "lr": 0.3, "epochs": 100, "batch": 40}
    rows = [summary(make_solution(net, 1), {**way, **options}) for way in WAYS]
    by_sgd, by_lbfgs, by_corners = (row["sharpness"] for row in rows)
    assert by_corners > 1.01 * rows[0]["first_order"]
    assert by_lbfgs == pytest.approx(by_corners, rel=0.03)
    assert by_sgd == pytest.approx(by_corners, rel=0.03)


def test_steps_beyond_the_box_end_on_it(make_solution):
    """With all images in a batch and a huge step, SGD's first point is the gradient's corner."""
    solution = make_solution("biases", 3)
    far = {**SGD, "batch": 40, "lr": 1e9, "epochs": 1}
    by_sgd, by_corners = (
        measure_stack([solution], way)[0]["ascent"] for way in (far, {**far, "by": "corners"})
    )
    np.testing.assert_allclose(by_sgd["value"], by_corners["value"], rtol=1e-12)


def test_ascent_step_by_step(make_solution):
    """The first epoch, with a loop over minibatches and parameters."""
    solution = make_solution("biases", 3)
    curve = measure_stack([solution], {**SGD, "epochs": 1})[0]["ascent"]
    start = solution.parameters
    w = {name: tensor.clone().requires_grad_() for name, tensor in start.items()}

    def loss(images):
        (flat,) = flattened(solution.net, w)
        return MeanLoss(solution.net, solution.inputs[:, images], solution.labels[:, images])(flat)

    order = torch.randperm(40, generator=torch.Generator().manual_seed(stream(0, "sharpness")))
    for drawn in order.split(8):
        gradients = torch.autograd.grad(loss(drawn), list(w.values()))
        for (name, tensor), g in zip(w.items(), gradients, strict=True):
            side = SGD["box"] * (start[name].abs() + 1)
            moved = tensor.data + SGD["lr"] * g
            tensor.data = torch.maximum(
                torch.minimum(moved, start[name] + side), start[name] - side
            )
    assert curve["epoch_of_ascent"].tolist() == [0, 1]
    rise = loss(order).item() - curve["value"][0]
    assert curve["value"][1] - curve["value"][0] == pytest.approx(rise, rel=1e-5)


@pytest.mark.parametrize("lr", [1e-9, 0.05])
@pytest.mark.parametrize("net", ["biases", "one_hidden", "deep"])
def test_steps_in_float32_find_what_steps_in_float64_find(make_solution, monkeypatch, net, lr):
    """Far within the box and at its sides; also where steps are below float32's round-off of w."""
    solution = make_solution(net, 3)
    curves = []
    for ascent in (DenseAscent, Ascent):
        monkeypatch.setattr(sharpness, "DenseAscent", ascent)
        (tables,) = measure_stack([solution], {**SGD, "lr": lr})
        curves.append(tables["ascent"]["value"].to_numpy())
    rises = [curve - curve[0] for curve in curves]
    np.testing.assert_allclose(*rises, rtol=1e-4, atol=1e-5 * rises[1].max())


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("margin", [20, 40])
def test_steps_in_float32_see_the_slope_of_sure_images(make_solution, outputs, margin):
    """Where 1 - p of the right class is far below float32's round-off."""
    solution = make_solution("biases", outputs)
    labels = solution.net.forward(solution.parameters, solution.inputs).detach()
    labels = (labels[..., 0] > 0).long() if outputs == 1 else labels.argmax(-1)
    last = solution.net.dense_layers[-1]
    grown = {
        name: value * (margin if name.startswith(f"{last.name}.") else 1)
        for name, value in solution.parameters.items()
    }
    w = flattened(solution.net, grown)
    loss = MeanLoss(solution.net, solution.inputs, labels)
    side = 0.01 * (w.abs() + 1)
    fast, exact = (kind(loss, w, side) for kind in (DenseAscent, Ascent))
    for climb in (fast, exact):
        climb.step(torch.arange(labels.shape[1]), 1e-3)
    error = (fast.displacements - exact.displacements).norm() / exact.displacements.norm()
    assert error < 1e-4


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
def test_dark_pixels_change_no_ascent(make_solution, way):
    """Weights without a slope count where a mean over all weights sets the length of steps."""
    solution = make_solution("biases", 3)
    dark = torch.zeros_like(solution.inputs[0, 0], dtype=torch.bool)
    dark[..., ::2] = True
    inputs = solution.inputs.masked_fill(dark, 0)
    almost = inputs.masked_fill(dark, 1e-150)
    found, expected = (
        measure_stack([replace(solution, inputs=one)], way)[0]["ascent"]["value"]
        for one in (inputs, almost)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
def test_a_stack_gives_each_what_it_gets_alone(make_solution, way):
    """However many there are, and however soon the others have settled."""
    first = make_solution("biases", 3)
    others = [
        replace(first, parameters={name: c * tensor for name, tensor in first.parameters.items()})
        for c in (0.0, 0.3, 2.0)
    ]
    stack = [first, *others]
    for solution, tables in zip(stack, measure_stack(stack, way), strict=True):
        alone = measure_stack([solution], way)[0]
        for name, table in tables.items():
            assert table.shape == alone[name].shape
            np.testing.assert_allclose(
                table.astype(float), alone[name].astype(float), rtol=1e-8, atol=1e-10
            )


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
def test_the_attack_set_is_not_looked_at(make_solution, way):
    solution = make_solution("biases", 3)
    shown = replace(
        solution,
        inputs=torch.cat([solution.inputs, 3 * solution.inputs[:, :9]], 1),
        labels=torch.cat([solution.labels, solution.labels[:, 9:18]], 1),
        clean=torch.cat([solution.clean, torch.zeros_like(solution.clean[:, :9])], 1),
    )
    assert summary(shown, way).equals(summary(solution, way))


def test_the_best_point_seen_is_not_the_last(make_solution):
    """Steps so large that the ascent jumps from corner to corner."""
    tables = measure_stack([make_solution("biases", 3)], {**SGD, "lr": 1e6, "epochs": 10})[0]
    row, curve = tables["summary"].loc[0], tables["ascent"]["value"]
    unit = 100 / (1 + curve[0])
    assert row["sharpness"] == pytest.approx(unit * (curve.max() - curve[0]), rel=1e-12)
    assert row["last"] == pytest.approx(unit * (curve.iloc[-1] - curve[0]), rel=1e-12)
    assert row["iterations"] == 10 == len(curve) - 1
    assert row["last"] < row["sharpness"]
    assert not row["converged"]


@pytest.mark.parametrize(
    ("end", "converged"),
    [([1.0] * 4 + [0.9], True), ([0.9] * 5, False), ([0.8] * 4 + [1.0], False)],
)
def test_an_ascent_is_judged_by_its_last_tenth_not_by_its_last_minibatches(end, converged):
    curve = [0.0] * 5 + [1.0] * 40 + end
    nothing = torch.zeros(2, dtype=torch.float64)
    row = _tables(curve, nothing, nothing, 1e-4)["summary"].loc[0]
    assert row["converged"] == converged


def test_a_maximum_has_no_sharpness(make_solution):
    """Of weights that are all zero, and labels that are as many 0 as 1, nothing has a slope."""
    solution = make_solution("one_hidden", 1)
    still = {name: torch.zeros_like(tensor) for name, tensor in solution.parameters.items()}
    for way in WAYS:
        row = summary(replace(solution, parameters=still), way)
        assert (row["sharpness"], row["first_order"], row["residual"]) == (0, 0, 0)
        assert row["converged"]
