"""Sharpness in balls and boxes of a quadratic, whose largest rise has a closed form."""

import numpy as np
import pytest
import torch
from quadratics import Quadratic
from scipy.optimize import brentq

from flatlas.errors import FlatlasError
from flatlas.flatness.adaptive_sharpness import Neighbourhood, Search, mean_rise, worst
from flatlas.flatness.ball import Ball
from flatlas.flatness.box import SEARCHES, Ascent, Box, by_minibatches, sharpness_of

ACCURATE = Search(tolerance=1e-7, steps=2000, starts=3)


def quadratic(curvatures, slope=1.0, turned=False, kind=Quadratic):
    """L(w + Δ) = 1 + b·Δ + ½ Δᵀ H Δ."""
    random = torch.Generator().manual_seed(3)
    h = torch.tensor(curvatures, dtype=torch.float64)
    w, b = torch.randn(2, len(h), generator=random, dtype=torch.float64)
    matrix = h.diag()
    if turned:
        q = torch.linalg.qr(torch.randn(matrix.shape, generator=random, dtype=h.dtype)).Q
        matrix = q @ matrix @ q.T
    return kind(matrix, w, slope * b, least=1.0)


def rise(loss, around):
    return worst(loss, around, ACCURATE, torch.Generator().manual_seed(0))


CONVEX, SADDLE = [0.1, 0.5, 1.0, 4.0, 9.0], [-9.0, -2.0, 0.3, 1.0, 3.0]


@pytest.mark.parametrize("curvatures", [CONVEX, SADDLE])
@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("radius", [1e-3, 0.5, 5.0])
def test_the_worst_case_in_a_ball_solves_the_secular_equation(curvatures, adaptive, radius):
    """The maximum is at u(λ) = (λ − CHC)⁻¹ Cb with |u| the radius and λ above all eigenvalues."""
    loss = quadratic(curvatures, turned=True)
    c = (loss.w.abs() if adaptive else torch.ones_like(loss.w)).numpy()
    a, b = c[:, None] * loss.hessian.numpy() * c, c * loss.slope.numpy()

    def u(multiplier):
        return np.linalg.solve(multiplier * np.eye(len(b)) - a, b)

    top = np.linalg.eigvalsh(a)[-1]
    at = u(brentq(lambda x: np.linalg.norm(u(x)) - radius, top + 1e-9, 1e6, xtol=1e-14))
    found = rise(loss, Neighbourhood(Ball(radius), adaptive))
    assert found.converged
    assert found.rise == pytest.approx(b @ at + at @ a @ at / 2, rel=1e-6)
    assert found.first_order == pytest.approx(radius * np.linalg.norm(b), rel=1e-12)
    assert found.loss == 1


@pytest.mark.parametrize("curvatures", [CONVEX, SADDLE])
@pytest.mark.parametrize("adaptive", [False, True])
def test_the_worst_case_in_a_cube_is_that_of_each_weight(curvatures, adaptive):
    """The maximum is on a side if the loss curves upwards; otherwise it may come before."""
    loss, radius = quadratic(curvatures), 0.3
    side = radius * (loss.w.abs() if adaptive else torch.ones_like(loss.w))
    h, b = loss.hessian.diagonal(), loss.slope.abs()
    at = torch.where(h < 0, torch.minimum(b / h.abs(), side), side)
    assert bool((at < side).any()) == (min(curvatures) < 0)
    found = rise(loss, Neighbourhood(Ball(radius, "infinity"), adaptive))
    assert found.converged
    assert found.rise == pytest.approx((b @ at + h @ at.square() / 2).item(), rel=1e-6)
    assert found.first_order == pytest.approx((b @ side).item(), rel=1e-12)


def test_in_a_minimum_the_worst_case_is_the_largest_curvature():
    """Where the slope is zero, the search must begin elsewhere."""
    loss = quadratic(CONVEX, slope=0.0, turned=True)
    found = rise(loss, Neighbourhood(Ball(0.1), adaptive=False))
    assert found.rise == pytest.approx(0.1**2 * 9.0 / 2, rel=1e-6)
    assert found.rises[0] == found.first_order == 0


def two_summits(slope):
    """b·Δ − ½ |Δ|² + 10 Δ₁² rises most at one of two ends of the first axis."""
    b = torch.tensor([slope, 0.0, 0.0], dtype=torch.float64)
    h = torch.tensor([19.0, -1.0, -1.0], dtype=torch.float64)
    return Quadratic(h.diag(), slope=b, least=1.0)


@pytest.mark.parametrize(("curvatures", "largest"), [((2.0, -1.0, -3.0), 2.0), ((-1.0, -2.0), 0)])
def test_without_a_slope_a_single_start_leaves_w(curvatures, largest):
    """On a saddle the largest rise is ½ h r²; on a maximum there is none."""
    around, search = Neighbourhood(Ball(0.5), adaptive=False), Search(1e-7, 2000, starts=1)
    on_top = quadratic(curvatures, slope=0)
    found = worst(on_top, around, search, torch.Generator().manual_seed(0))
    assert found.rise == pytest.approx(largest * 0.5**2 / 2, rel=1e-4, abs=1e-9)
    assert found.converged


def test_starts_that_disagree_show_in_the_error():
    """At the end that lies against the slope, the rise is smaller by twice the slope."""
    around, few = Neighbourhood(Ball(1.0), adaptive=False), Search(1e-7, 500, starts=2)
    errors = set()
    for seed in range(8):
        random = torch.Generator().manual_seed(seed)
        found = worst(two_summits(0.25), around, few, random)
        assert found.rise == pytest.approx(0.25 + 9.5, rel=1e-6)
        errors.add(round(found.error, 5))
    assert errors == {0.0, 0.5}


class WithHole(Quadratic):
    """The loss is NaN on one side of w."""

    def value_and_gradient(self, w):
        value, slope = super().value_and_gradient(w)
        return value.where(w[0] <= self.w[0], np.nan), slope


def test_a_start_where_the_loss_is_nan_counts_least():
    around, few = Neighbourhood(Ball(0.1), adaptive=False), Search(1e-7, 50, starts=6)
    found = worst(quadratic(CONVEX, kind=WithHole), around, few, torch.Generator().manual_seed(0))
    assert np.isneginf(found.rises).any()
    assert found.rise == found.rises.max() > 0


@pytest.mark.parametrize("least", [torch.nan, torch.inf])
def test_a_loss_that_is_not_finite_at_the_weights_is_refused(least):
    around = Neighbourhood(Ball(0.1), adaptive=False)
    with pytest.raises(FlatlasError, match=f"{least}.*finite"):
        rise(Quadratic(torch.eye(2, dtype=torch.float64), least=least), around)


def test_a_search_without_enough_steps_has_not_converged():
    around = Neighbourhood(Ball(1.0), adaptive=False)
    few, random = Search(tolerance=1e-9, steps=2, starts=1), torch.Generator()
    found = worst(quadratic(CONVEX, 1e-3, turned=True), around, few, random)
    assert (found.iterations, found.converged) == (2, False)
    assert found.residual == pytest.approx(found.left / found.rise)
    assert found.error == found.left > 1e-9 * found.rise


@pytest.mark.parametrize("adaptive", [False, True])
def test_the_mean_is_half_of_the_trace(adaptive):
    """ρ² tr(CHC) / 2, and its standard error is that of a sum of χ²."""
    loss, radius, pairs = quadratic(CONVEX), 0.2, 4000
    c = loss.w.abs() if adaptive else torch.ones_like(loss.w)
    terms = radius**2 / 2 * c.square() * loss.hessian.diagonal()
    around = Neighbourhood(Ball(radius), adaptive)
    found = mean_rise(loss, around, pairs, torch.Generator().manual_seed(1))
    error = (2 * terms.square().sum() / pairs).sqrt().item()
    assert found.standard_error == pytest.approx(error, rel=0.1)
    assert abs(found.value - terms.sum().item()) < 4 * error


def test_a_slope_alone_does_not_change_the_mean():
    around = Neighbourhood(Ball(0.2), adaptive=False)
    found = mean_rise(quadratic([0.0] * 5), around, 10, torch.Generator())
    assert (found.value, found.standard_error) == pytest.approx((0, 0), abs=1e-15)


def box_around(loss, share):
    def of(points, members):
        values, slopes = zip(*map(loss.value_and_gradient, points), strict=True)
        return torch.stack(values), torch.stack(slopes)

    return Box.around(loss.w.unsqueeze(0), share, of, weights=len(loss.w))


@pytest.mark.parametrize("slope", [1.0, 1e-12, 0.0])
@pytest.mark.parametrize("by", SEARCHES)
def test_the_largest_rise_in_a_box_is_at_a_corner(by, slope):
    loss, share = quadratic(CONVEX, slope), 0.05
    box = box_around(loss, share)
    (found,) = sharpness_of(box, SEARCHES[by](box, 100))
    side = share * (loss.w.abs() + 1)
    first = (loss.slope.abs() @ side).item()
    second = (loss.hessian.diagonal() @ side.square() / 2).item()
    # 100 / (1 + L) with L = 1.
    assert found.sharpness == pytest.approx(50 * (first + second), rel=1e-9)
    assert (found.first_order, found.rest) == pytest.approx((50 * first, 50 * second), rel=1e-9)
    assert found.converged


def test_an_ascent_by_minibatches_that_never_moves_has_not_converged():
    """In an exact minimum of every minibatch all slopes are 0, however sharp the minimum is."""
    loss = quadratic(CONVEX, slope=0.0)
    box = box_around(loss, 0.05)
    climb = Ascent(lambda _, w: loss.value_and_gradient(w[0])[1][None], box.w, box.side)
    curves = by_minibatches(box, climb, lambda w: loss.value(w[0])[None], lambda: [None], 0.1, 20)
    (found,) = sharpness_of(box, curves)
    assert (found.sharpness, found.iterations, found.converged) == (0, 0, False)
