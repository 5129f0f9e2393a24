"""The closed form against automatic differentiation of the whole Hessian."""

import pytest
import torch
from hessian_systems import DENSE, full_hessian, system, whole

from flatlas.hessian import dense, hessian_of
from flatlas.hessian.dense import DenseHessian


@pytest.mark.parametrize("outputs", [1, 2, 4])
@pytest.mark.parametrize("name", DENSE)
def test_products_trace_and_norm_are_those_of_the_whole_matrix(name, outputs):
    given = system(name, outputs)
    expected = full_hessian(*given)
    hessian = hessian_of(*given)
    assert isinstance(hessian, DenseHessian)
    torch.testing.assert_close(whole(hessian), expected, rtol=0, atol=1e-12)
    assert hessian.trace() == pytest.approx(expected.trace().item(), rel=1e-12)
    assert hessian.frobenius() == pytest.approx(expected.norm().item(), rel=1e-12)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("name", DENSE)
def test_images_fewer_than_inputs_leave_out_zeros_alone(name, outputs):
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


def test_as_many_images_as_inputs_leave_nothing_out():
    hessian = hessian_of(*system("two_hidden", 3, images=40))
    assert hessian.reduced() is hessian


def test_residuals_matter_in_these_nets():
    """The closed form would pass on the Gauss-Newton matrix alone if δ were small."""
    hessian = hessian_of(*system("deep", 4))
    eigenvalues = torch.linalg.eigvalsh(whole(hessian))
    assert eigenvalues[0] < -0.1 * eigenvalues[-1]


def test_silent_neurons_have_no_curvature():
    net, parameters, inputs, labels = system("two_hidden", 1)
    parameters["fc1.bias"][:, 2] = -1e3
    found = whole(hessian_of(net, parameters, inputs, labels))
    expected = full_hessian(net, parameters, inputs, labels)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    assert (found[2 : 36 * 7 : 7] == 0).all()
    assert (found[3 : 36 * 7 : 7] != 0).any()


def test_blocks_of_images_change_nothing(monkeypatch):
    given = system("deep", 4)
    norm = hessian_of(*given).frobenius()
    monkeypatch.setattr(dense, "NUMBERS", 7 * 30 * 4**2)
    assert hessian_of(*given).frobenius() == pytest.approx(norm, rel=1e-12)


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_net_that_is_sure_keeps_its_small_curvature(outputs):
    """Of one image (1, 0, …) with logits 60 apart, S is about e^-60, far below round-off."""
    net, parameters, inputs, labels = system("logistic", outputs, images=1)
    parameters = {name: torch.zeros_like(tensor) for name, tensor in parameters.items()}
    parameters["fc1.weight"][0, 0, -1] = 60.0
    inputs = torch.zeros_like(inputs)
    inputs[0, 0, 0, 0, 0] = 1.0
    hessian = hessian_of(net, parameters, inputs, torch.full_like(labels, 1))
    small = torch.tensor(-60.0, dtype=torch.float64).exp().item()
    assert hessian.trace() == pytest.approx(2 * outputs * small, rel=1e-12)
    assert hessian.frobenius() == pytest.approx(2 * outputs * small, rel=1e-12)
