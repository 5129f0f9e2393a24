"""Sharpness against all corners of a small box, its limit for a tiny one, and three ascents."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from solutions import make_solution
from torch import nn

from flatlas.flatness.box import Box, lbfgs, sharpness_of
from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.measures import sharpness
from flatlas.measures.dense_ascent import DenseAscent
from flatlas.measures.sharpness import ascent, measure_stack
from flatlas.nets.loss import predictions
from flatlas.nets.modules import ModuleNet
from flatlas.seeds import stream

SGD = {"by": "sgd", "box": 0.01, "batch": 8, "lr": 0.05, "epochs": 30}
WAYS = [{**SGD, "by": by} for by in ("sgd", "lbfgs", "corners")]
every_way = pytest.mark.parametrize("way", WAYS, ids=["sgd", "lbfgs", "corners"])


def taken(solution, options):
    """The row of the summary, and the loss after each epoch of the ascent."""
    (tables,) = measure_stack([solution], options)
    return tables["summary"].loc[0], tables["ascent"]["value"]


def loss_of(solution):
    loss = MeanLoss(solution.net, solution.inputs, solution.labels)
    return loss, flattened(solution.net, solution.parameters)


def two_parameters():
    """A weight and a bias on images of one pixel: logistic regression, whose loss is convex."""
    solution = make_solution("logistic", 1, images=24, shape=(1, 1, 1))
    solution.parameters["fc1.weight"][:] = 0.7
    solution.parameters["fc1.bias"][:] = -0.2
    return replace(solution, inputs=make_solution("biases", 1, images=24).inputs[..., 2:3, 2:3])


def brute_force(solution, box):
    """100 (max L − L(w)) / (1 + L(w)) over a grid of the box that includes its corners."""
    loss, (w,) = loss_of(solution)
    steps = torch.linspace(-1, 1, 41, dtype=torch.float64)
    points = torch.stack([w + torch.stack(u) * box * (w.abs() + 1) for u in product(steps, steps)])
    origin = loss(w)
    return (100 * (loss(points).max() - origin) / (1 + origin)).item()


@pytest.mark.parametrize("box", [0.001, 0.1])
@every_way
def test_the_best_corner_of_two_parameters(way, box):
    solution = two_parameters()
    row, _ = taken(solution, {**way, "box": box, "lr": box, "batch": 24, "epochs": 200})
    expected = brute_force(solution, box)
    assert (row["sharpness"], row["last"]) == pytest.approx((expected, expected), rel=1e-9)
    assert row["converged"]


@every_way
def test_an_ascent_finds_a_local_maximum(way):
    """In a wide box the ascent ends at a corner that is a local but not the global maximum."""
    solution = two_parameters()
    row, _ = taken(solution, {**way, "box": 2.0, "lr": 2.0, "epochs": 100})
    assert 0.5 * brute_force(solution, 2.0) < row["sharpness"] < brute_force(solution, 2.0)


class InDouble(nn.Sequential):
    """A user's module that computes in float64 whatever it gets."""

    def forward(self, images):
        return super().forward(images.double())


@every_way
def test_a_user_s_module_may_need_float64(way):
    def make():
        return InDouble(nn.Flatten(), nn.Linear(36, 4), nn.ReLU(), nn.Linear(4, 3)).double()

    some = make_solution("biases")
    net = ModuleNet(make, tuple(some.inputs.shape[2:]), 3)
    row, _ = taken(replace(some, net=net, parameters=net.initial([0])), way)
    assert row["sharpness"] > row["first_order"] / 2 > 0


@every_way
def test_a_tiny_box_sees_the_gradient_alone(way):
    """The first-order part is a difference quotient towards the corner that the slope points to."""
    solution = make_solution("biases")
    row, _ = taken(solution, {**way, "box": 1e-7, "lr": 1e-2, "batch": 40})
    assert row["sharpness"] == pytest.approx(row["first_order"], rel=1e-4)
    assert row["rest"] == row["sharpness"] - row["first_order"]
    loss, (w,) = loss_of(solution)
    g = torch.func.grad(loss)(w)
    corner = 1e-6 * g.sign() * (w.abs() + 1)
    slope = 0.1 * (loss(w + corner) - loss(w - corner)) / 2
    expected = {
        "first_order": 100 * slope / (1 + loss(w)),
        "gradient_norm": g.norm(),
        "loss": loss(w),
    }
    assert row[[*expected]].tolist() == pytest.approx([*map(float, expected.values())], rel=1e-6)


@pytest.mark.parametrize("net", ["biases", "convolutional"])
def test_three_ascents_agree(net):
    """To a few hundredths: ReLUs make a box of several summits, and each may find another."""
    options = {"box": 0.005, "lr": 0.3, "epochs": 100, "batch": 40}
    rows = [taken(make_solution(net, 1), {**way, **options})[0] for way in WAYS]
    by_sgd, by_lbfgs, by_corners = (row["sharpness"] for row in rows)
    assert by_corners > 1.01 * rows[0]["first_order"]
    assert (by_lbfgs, by_sgd) == pytest.approx((by_corners, by_corners), rel=0.03)


@pytest.mark.parametrize("lr", [0.05, 1e9])
def test_ascent_step_by_step(lr):
    """The first epoch, with a loop over minibatches and parameters; huge steps end on the box."""
    solution = make_solution("biases")
    _, curve = taken(solution, {**SGD, "lr": lr, "epochs": 1})
    start = solution.parameters
    w = {name: tensor.clone().requires_grad_() for name, tensor in start.items()}

    def loss(images):
        whole, (flat,) = loss_of(replace(solution, parameters=w))
        return whole.of(images)(flat)

    order = torch.randperm(40, generator=torch.Generator().manual_seed(stream(0, "sharpness")))
    for drawn in order.split(8):
        gradients = torch.autograd.grad(loss(drawn), list(w.values()))
        for (name, tensor), g in zip(w.items(), gradients, strict=True):
            side = SGD["box"] * (start[name].abs() + 1)
            moved = tensor.data + lr * g
            tensor.data = moved.clamp(start[name] - side, start[name] + side)
    assert len(curve) == 2
    rise = loss(order).item() - curve[0]
    assert curve[1] - curve[0] == pytest.approx(rise, rel=1e-5)


@pytest.mark.parametrize("lr", [1e-9, 0.05])
@pytest.mark.parametrize("net", ["biases", "one_hidden", "deep"])
def test_steps_in_float32_find_what_steps_in_float64_find(monkeypatch, net, lr):
    """Well within the box and at its sides; also where steps are below float32's round-off of w."""
    curves = []
    for kind in (DenseAscent, ascent):
        monkeypatch.setattr(sharpness, "DenseAscent", kind)
        curves.append(taken(make_solution(net), {**SGD, "lr": lr})[1])
    rises = [curve - curve[0] for curve in curves]
    np.testing.assert_allclose(*rises, rtol=1e-4, atol=1e-5 * rises[1].max())


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("margin", [20, 40])
def test_steps_in_float32_see_the_slope_of_sure_images(outputs, margin):
    """Here 1 − p of the right class is far below float32's round-off."""
    solution = make_solution("biases", outputs)
    labels = predictions(solution.net.forward(solution.parameters, solution.inputs))
    for name in ("fc3.weight", "fc3.bias"):
        solution.parameters[name] *= margin
    loss, w = loss_of(replace(solution, labels=labels))
    fast, exact = (kind(loss, w, 0.01 * (w.abs() + 1)) for kind in (DenseAscent, ascent))
    for climb in (fast, exact):
        climb.step(torch.arange(40), 1e-3)
    error = (fast.displacements - exact.displacements).norm() / exact.displacements.norm()
    assert error < 1e-4


@every_way
def test_dark_pixels_change_no_ascent(way):
    """Weights without a slope count where a mean over all weights sets the length of steps."""
    solution = make_solution("biases")
    dark = torch.zeros_like(solution.inputs[0, 0], dtype=torch.bool)
    dark[..., ::2] = True
    curves = [
        taken(replace(solution, inputs=solution.inputs.masked_fill(dark, value)), way)[1]
        for value in (0, 1e-150)
    ]
    np.testing.assert_allclose(*curves, rtol=1e-6)


@every_way
def test_a_stack_gives_each_member_what_it_gets_alone(way):
    """This holds however many members there are, and however soon the others settle."""
    first = make_solution("biases")
    stack = [
        replace(first, parameters={name: c * tensor for name, tensor in first.parameters.items()})
        for c in (1.0, 0.0, 0.3, 2.0)
    ]
    for solution, tables in zip(stack, measure_stack(stack, way), strict=True):
        (alone,) = measure_stack([solution], way)
        # `sgd` steps in float32, whose products are rounded as the size of the stack has it.
        rtol = 1e-6 if way["by"] == "sgd" else 1e-8
        for name, table in tables.items():
            assert table.shape == alone[name].shape
            np.testing.assert_allclose(
                table.astype(float), alone[name].astype(float), rtol=rtol, atol=1e-10
            )


def test_the_best_point_seen_is_not_the_last():
    """Steps so large that the ascent jumps from corner to corner."""
    row, curve = taken(make_solution("biases"), {**SGD, "lr": 1e6, "epochs": 10})
    unit = 100 / (1 + curve[0])
    assert row["sharpness"] == pytest.approx(unit * (curve.max() - curve[0]), rel=1e-12)
    assert row["last"] == pytest.approx(unit * (curve.iloc[-1] - curve[0]), rel=1e-12)
    assert row["iterations"] == 10 == len(curve) - 1
    assert row["last"] < row["sharpness"]
    assert not row["converged"]


RISE = [0.0] * 5 + [1.0] * 40


@pytest.mark.parametrize(
    ("slope", "curve", "converged"),
    [
        # The last tenth of an ascent decides.
        (0.0, [*RISE, 1.0, 1.0, 1.0, 1.0, 0.9], True),
        (0.0, [*RISE, 0.9, 0.9, 0.9, 0.9, 0.9], False),
        (0.0, [*RISE, 0.8, 0.8, 0.8, 0.8, 1.0], False),
        # Nothing was found on a slope.
        (1.0, [1.0, np.nan], False),
        (1.0, [1.0], False),
        (1.0, [1.0, 0.9, 0.8, 0.7], False),
        (0.0, [1.0, 0.9], True),
        # Without a slope, it never left w.
        (0.0, [1.0], False),
        # Too flat for the loss to change in its last digit.
        (1e-18, [1.0, 1.0], True),
    ],
)
def test_whether_an_ascent_has_converged(slope, curve, converged):
    box = Box.around(
        torch.zeros(1, 2).double(), 1e-4, lambda w, _: (1 + slope * w.sum(1), slope + 0 * w), 2
    )
    (found,) = sharpness_of(box, [curve])
    assert found.converged == converged


def test_a_search_that_fails_at_its_first_step_has_not_converged():
    def of(w, _):
        return torch.where((w == 0).all(1), w.sum(1), torch.nan), torch.ones_like(w)

    box = Box.around(torch.zeros(1, 3).double(), 0.1, of, 3)
    (found,) = sharpness_of(box, lbfgs(box, 100))
    assert (found.sharpness, found.converged) == (0, False)
