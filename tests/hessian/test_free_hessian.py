"""Matrix-free products of nets with convolutions against the whole Hessian, in both precisions."""

import pytest
import torch
from hessian_systems import CONVOLUTIONAL, full_hessian, system, whole

from flatlas.hessian import hessian_of
from flatlas.hessian.free import FreeHessian
from flatlas.nets import layered
from flatlas.nets.loss import predictions


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("name", CONVOLUTIONAL)
def test_products_of_convolutional_nets_are_those_of_the_whole_matrix(name, outputs, monkeypatch):
    """Also in blocks of images."""
    given = system(name, outputs)
    expected, hessian = full_hessian(*given), hessian_of(*given)
    assert isinstance(hessian, FreeHessian)
    torch.testing.assert_close(whole(hessian), expected, rtol=0, atol=1e-12)
    monkeypatch.setattr(layered, "CONVOLVED", 7)
    torch.testing.assert_close(
        hessian.product(expected[:3]), expected[:3] @ expected, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("name", CONVOLUTIONAL)
def test_single_precision_is_precise_enough_for_nets_that_are_sure(name, outputs):
    """Logits in float32 would not be enough here: 1 − p is in their last few digits."""
    net, parameters, inputs, labels = system(name, outputs)
    last = net.dense_layers[-1].name
    parameters = {
        key: value * (10 if key.startswith(last) else 1) for key, value in parameters.items()
    }
    labels = predictions(net.forward(parameters, inputs))
    exact = hessian_of(net, parameters, inputs, labels)
    single = hessian_of(net, parameters, inputs, labels, torch.float32)
    vectors = torch.randn(4, exact.size, dtype=torch.float64)
    expected, found = exact.product(vectors), single.product(vectors)
    assert found.dtype == torch.float64
    assert ((found - expected).norm(dim=1) < 1e-4 * expected.norm(dim=1)).all()
    assert not torch.equal(found, expected)
