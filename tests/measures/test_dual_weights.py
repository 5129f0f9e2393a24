"""Dual weights against the duality itself and a least-squares solver."""

import numpy as np
import pytest
import torch
from solutions import LAYERS, make_solution

from flatlas.flatness.dual_weights import dual_shift, gradient_scale, vanishing
from flatlas.nets.loss import sample_losses


def normal(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_a_test_image_and_its_partner_with_dual_weights_have_equal_losses(net, layer, outputs):
    """l(x', w) = l(x, w + Δw) (Eq. 1), by forward passes of a stack with a member for each pair."""
    solution = make_solution(net, outputs)
    name, pairs = f"{layer}.weight", 25
    partners, tests = solution.inputs[:, :pairs], solution.test_inputs
    a, test_a = solution.into(layer, partners)[0], solution.into(layer, tests)[0]
    shift = dual_shift(solution.parameters[name][0], a, test_a)
    stack = {key: value.repeat_interleave(pairs, 0) for key, value in solution.parameters.items()}
    stack[name] = stack[name] + shift
    dual = solution.net.forward(stack, partners.transpose(0, 1)).transpose(0, 1)
    straight = solution.net.forward(solution.parameters, tests)
    losses, expected = (sample_losses(logits, solution.test_labels) for logits in (dual, straight))
    alive = a.square().sum(1) > 0
    assert alive.sum() > 20
    torch.testing.assert_close(losses[:, alive], expected[:, alive], rtol=1e-12, atol=1e-13)


def test_no_smaller_change_of_weights_suffices():
    """Against the minimum-norm solution of Eq. 2 as a linear system."""
    weight, a, test_a = normal(4, 3), normal(8, 4, seed=1), normal(8, 4, seed=2)
    shift = dual_shift(weight, a, test_a)
    for k in range(8):
        system = np.kron(a[k].numpy(), np.eye(3))
        change = weight.T.numpy() @ (test_a[k] - a[k]).numpy()
        smallest = np.linalg.lstsq(system, change, rcond=None)[0]
        np.testing.assert_allclose(shift[k].flatten(), smallest, rtol=1e-12, atol=1e-14)


def test_pairs_without_dual_weights_have_no_effective_gradient():
    weight, a, test_a = normal(4, 3), normal(4, 4, seed=1), normal(4, 4, seed=2)
    a[0] = 0.0
    a[1] = test_a[1]
    a[2] = test_a[2] * (1 + 1e-15)
    shift = dual_shift(weight, a, test_a)
    zero = vanishing(shift, weight)
    assert zero.tolist() == [True, True, True, False]
    scale = gradient_scale(shift, torch.ones(4, dtype=torch.float64), zero)
    assert (scale == 0).tolist() == zero.tolist()
    assert shift.isfinite().all()
