"""The closed form against automatic differentiation of the whole Hessian."""

import pytest
import torch
from hessian_systems import DENSE, full_hessian, system, whole

from flatlas.hessian import dense, hessian_of
from flatlas.hessian.dense import DenseHessian


@pytest.mark.parametrize("outputs", [1, 2, 4])
@pytest.mark.parametrize("name", DENSE)
def test_products_trace_and_norm_are_those_of_the_whole_matrix(name, outputs, monkeypatch):
    """The norm is also summed over blocks of images."""
    given = system(name, outputs)
    expected, hessian = full_hessian(*given), hessian_of(*given)
    assert isinstance(hessian, DenseHessian)
    torch.testing.assert_close(whole(hessian), expected, rtol=0, atol=1e-12)
    assert hessian.trace() == pytest.approx(expected.trace().item(), rel=1e-12)
    assert hessian.frobenius() == pytest.approx(expected.norm().item(), rel=1e-12)
    monkeypatch.setattr(dense, "NUMBERS", 7 * 30 * outputs**2)
    assert hessian.frobenius() == pytest.approx(expected.norm().item(), rel=1e-12)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("name", DENSE)
def test_the_reduced_matrix_lacks_only_zero_eigenvalues(name, outputs):
    """There are fewer images than inputs; otherwise nothing could be left out."""
    hessian = hessian_of(*system(name, outputs, images=10))
    reduced = hessian.reduced()
    units = reduced.sites[0].shape[1]
    zeros = (hessian.sites[0].shape[0] - 10) * units
    assert reduced.size == hessian.size - zeros
    eigenvalues = torch.linalg.eigvalsh(whole(hessian))
    expected = torch.cat([torch.zeros(zeros).double(), torch.linalg.eigvalsh(whole(reduced))])
    torch.testing.assert_close(eigenvalues, expected.sort()[0], rtol=0, atol=1e-12)
    assert reduced.trace() == pytest.approx(hessian.trace(), rel=1e-12)
    assert reduced.frobenius() == pytest.approx(hessian.frobenius(), rel=1e-12)
    many = hessian_of(*system(name, outputs, images=40))
    assert many.reduced() is many


def test_these_nets_are_far_from_gauss_newton():
    """If residuals δ were small, the Gauss-Newton matrix alone would pass for the closed form."""
    eigenvalues = torch.linalg.eigvalsh(whole(hessian_of(*system("deep", 2))))
    assert eigenvalues[0] < -0.1 * eigenvalues[-1]


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_net_that_is_sure_keeps_its_small_curvature(outputs):
    """For one image (1, 0, …) with logits 60 apart, S is about e^-60, far below round-off."""
    net, parameters, inputs, labels = system("logistic", outputs, images=1)
    parameters = {name: torch.zeros_like(tensor) for name, tensor in parameters.items()}
    parameters["fc1.weight"][0, 0, -1] = 60.0
    inputs = torch.zeros_like(inputs)
    inputs[0, 0, 0, 0, 0] = 1.0
    hessian = hessian_of(net, parameters, inputs, torch.full_like(labels, 1))
    small = 2 * outputs * torch.tensor(-60.0, dtype=torch.float64).exp().item()
    assert (hessian.trace(), hessian.frobenius()) == pytest.approx((small, small), rel=1e-12)
