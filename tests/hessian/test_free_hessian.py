"""Matrix-free products against the whole Hessian, the closed form and curvlinops."""

import pytest
import torch
from curvlinops import HessianLinearOperator
from hessian_systems import CONVOLUTIONAL, DENSE, full_hessian, system, whole
from torch import nn

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
@pytest.mark.parametrize("name", DENSE)
def test_products_of_dense_nets_are_those_of_the_closed_form(name, outputs):
    given = system(name, outputs)
    vectors = torch.randn(4, hessian_of(*given).size, dtype=torch.float64)
    found = FreeHessian(*given).product(vectors)
    torch.testing.assert_close(found, hessian_of(*given).product(vectors), rtol=0, atol=1e-11)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("name", CONVOLUTIONAL)
def test_single_precision_is_precise_enough_for_nets_that_are_sure(name, outputs):
    """Here float32 logits alone would not do: 1 − p is a few of their last digits."""
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


@pytest.mark.parametrize("outputs", [1, 3])
def test_products_are_those_of_curvlinops(outputs):
    """For the same net in modules of torch.nn, whose weights are transposed."""
    net, parameters, inputs, labels = given = system("biases", outputs)
    model = nn.Sequential(
        nn.Linear(36, 8), nn.ReLU(), nn.Linear(8, 5), nn.ReLU(), nn.Linear(5, outputs)
    ).double()
    order = []
    for layer, module in zip(net.dense_layers, model[::2], strict=True):
        module.weight.data = parameters[f"{layer.name}.weight"][0].T.contiguous()
        module.bias.data = parameters[f"{layer.name}.bias"][0]
        # The place of each of the module's parameters among ours.
        start = sum(map(len, order))
        weight = torch.arange(module.weight.numel()).view(module.weight.T.shape).T.flatten()
        order += [start + weight, start + len(weight) + torch.arange(layer.outputs)]
    loss = nn.BCEWithLogitsLoss() if outputs == 1 else nn.CrossEntropyLoss()
    target = labels[0].double().unsqueeze(1) if outputs == 1 else labels[0]
    data = [(inputs[0].flatten(1), target)]
    operator = HessianLinearOperator(model, loss, list(model.parameters()), data)
    vector = torch.randn(hessian_of(*given).size, dtype=torch.float64)
    places = torch.cat(order)
    (found,) = hessian_of(*given).product(vector.unsqueeze(0))
    torch.testing.assert_close(found[places], operator @ vector[places], rtol=0, atol=1e-11)
