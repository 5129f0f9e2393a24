"""The width of a valley in closed form."""

import pytest
import torch
from quadratics import Quadratic, positive_definite

from flatlas.errors import FlatlasError
from flatlas.flatness.valley import valley

HESSIAN = positive_definite(4)
UNIT = torch.nn.functional.normalize(
    torch.tensor([1.0, -2.0, 0.5, 3.0], dtype=torch.float64), dim=0
)


@pytest.mark.parametrize("factor", [1.01, 2.718, 100.0])
@pytest.mark.parametrize("least", [1e-14, 1e-6, 1.0, 1e6])
def test_ends_are_where_a_parabola_has_grown_by_the_factor(factor, least):
    """c + a θ + h θ²/2, from both roots of a quadratic equation."""
    slope = 0.3 * least**0.5 * UNIT
    loss = Quadratic(HESSIAN, slope=slope, least=least)
    found = valley(loss, UNIT, factor, 1e-6)
    h, a = (UNIT @ HESSIAN @ UNIT).item(), (slope @ UNIT).item()
    root = (a**2 + 2 * h * least * (factor - 1)) ** 0.5
    assert found.converged
    assert found.left == pytest.approx((-a - root) / h, rel=1e-5)
    assert found.right == pytest.approx((-a + root) / h, rel=1e-5)
    assert found.flatness == pytest.approx(2 * root / h, rel=1e-5)
    assert found.residual < 1e-4


class Downhill(Quadratic):
    """Falls to one side, overflows on the other."""

    def value(self, w):
        return torch.exp(1e3 * w[0])


def test_a_valley_without_an_end_is_infinite():
    found = valley(Downhill(HESSIAN), torch.eye(4, dtype=torch.float64)[0], 2.0, 1e-6)
    assert found.right == pytest.approx(torch.tensor(2.0).log().item() / 1e3, rel=1e-5)
    assert not found.converged
    assert found.flatness == float("inf")


@pytest.mark.parametrize("least", [0.0, -1.0, torch.nan, torch.inf])
def test_a_loss_that_no_factor_raises_is_refused(least):
    with pytest.raises(FlatlasError, match=rf"{least:.3g}.*above 0"):
        valley(Quadratic(HESSIAN, least=least), UNIT, 2.0, 1e-6)
