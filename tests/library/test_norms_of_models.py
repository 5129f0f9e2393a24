"""Norms, path norms and margins, by hand."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import prune

import flatlas


def net(*parts):
    """Dense layers with given weights (outputs, inputs) and biases."""
    layers = []
    for weight, bias in parts:
        layer = nn.Linear(len(weight[0]), len(weight))
        layer.weight.data, layer.bias.data = torch.tensor(weight), torch.tensor(bias)
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


TWO_LAYERS = net(([[1.0, -2.0]], [3.0]), ([[2.0], [-1.0]], [0.0, 1.0]))
X = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 9.0]])
Y = torch.tensor([0, 1, 1])


def norms(model=TWO_LAYERS, data=(X, Y), loss="cross_entropy", parameters=None, **options):
    return flatlas.measure(model, data, {"norms": options}, loss=loss, parameters=parameters)[
        "norms"
    ]


def test_norms_and_margins_of_two_layers():
    found = norms()
    assert found.weight_norm == pytest.approx(20**0.5)
    # Paths from both inputs and the bias through the hidden neuron, and from the last bias.
    assert found.path_norm == pytest.approx(((1 + 4 + 9) * (4 + 1) + 1) ** 0.5)
    # The hidden values are 4, 1 and 0, and so the logits (8, −3), (2, 0) and (0, 1).
    assert found.margin_lowest == pytest.approx(-2)
    assert found.margin_tenth == pytest.approx(np.quantile([11, -2, 1], 0.1))
    assert found.distance is None
    assert norms(data=(X, Y.byte())) == found


def with_other_state(model):
    """A state dictionary may have more than tensors, as `get_extra_state` returns it."""
    return {**model.state_dict(), "_extra_state": {"version": 1}}


@pytest.mark.parametrize("given", [lambda model: model, nn.Module.state_dict, with_other_state])
def test_distance_from_the_start(given):
    start = deepcopy(TWO_LAYERS)
    with torch.no_grad():
        start[0].weight += torch.tensor([[3.0, 4.0]])
        start[2].bias += 12
    assert norms(initial=given(start)).distance == pytest.approx((25 + 288) ** 0.5)
    assert norms(initial=given(start), parameters="0.*").distance == pytest.approx(5)


def test_margins_of_single_outputs_and_of_tokens():
    one = net(([[1.0, -2.0]], [0.5]))
    found = norms(one, (X, torch.tensor([[1.0], [0.0], [1.0]])), "bce")
    # The outputs are 1.5, −1.5 and −17.5.
    assert found.margin_lowest == pytest.approx(-17.5)
    tokens = nn.Embedding(3, 2)
    tokens.weight.data = torch.tensor([[1.0, 0.0], [0.0, 5.0], [7.0, 0.0]])
    data = [(torch.tensor([[0, 1, 2]]), torch.tensor([[0, 1, -100]]))]

    def loss(output, target):
        return nn.functional.cross_entropy(output.movedim(-1, 1), target)

    assert norms(tokens, data, loss).margin_lowest == pytest.approx(1)
    assert norms(tokens, data, loss).path_norm is None


def second(output, target):
    """A user's own loss, with the classes in the second dimension of the output."""
    return nn.functional.cross_entropy(output, target)


@pytest.mark.parametrize("places", [2, 3])
def test_margins_with_as_many_places_as_classes_need_a_loss_of_torch(places):
    """Otherwise the classes may be second or last."""
    outputs = torch.randn(4, 3, places, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(4 * places).view(4, places) % 3
    same = nn.Linear(places, places, bias=False)
    same.weight.data = torch.eye(places)
    own = outputs.gather(1, labels.unsqueeze(1)).squeeze(1)
    others = outputs.scatter(1, labels.unsqueeze(1), -torch.inf).amax(1)
    lowest = pytest.approx((own - others).min().item())
    assert norms(same, (outputs, labels)).margin_lowest == lowest
    found = norms(same, (outputs, labels), second).margin_lowest
    assert found == lowest if places == 2 else found is None


class Skipped(nn.Sequential):
    """A chain beside a shortcut."""

    def forward(self, x):
        return x + super().forward(x)


class Scaled(nn.Linear):
    """A layer that is more than its weights."""

    def forward(self, x):
        return 2 * super().forward(x)


class Named(nn.Sequential):
    """A chain under a name of its own."""


def test_only_chains_have_a_path_norm():
    chain = norms()
    assert norms(Named(*TWO_LAYERS)).path_norm == chain.path_norm
    assert norms(Skipped(*TWO_LAYERS)).path_norm is None
    assert norms(nn.Sequential(Scaled(2, 3), nn.ReLU(), nn.Linear(3, 2))).path_norm is None


def test_layers_of_which_one_sees_places_and_the_next_all_of_them_have_no_path_norm():
    model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Flatten(), nn.Linear(12, 2))
    found = norms(model, (torch.randn(3, 3, 2), Y))
    assert found.path_norm is None
    assert found.margin_lowest is not None


def test_weights_that_are_computed_have_no_path_norm():
    """They are left from the last pass, which an earlier measure may have made at other weights."""
    model = prune.l1_unstructured(nn.Linear(2, 2), "weight", 0.5)
    measures = {"adaptive_sharpness": {"radius": 1.0, "pairs": 2}, "norms": {"margins": False}}
    assert flatlas.measure(nn.Sequential(model), (X, Y), measures)["norms"].path_norm is None


REGRESSION = (X, torch.randn(3, 2, generator=torch.Generator().manual_seed(0)))
SQUARE = (torch.ones(3, 2, 2), torch.ones(3, 2, dtype=torch.long))
CONVOLUTION = nn.Sequential(nn.Unflatten(1, (1, 2)), nn.Conv1d(1, 1, 1), nn.Flatten())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"model": nn.Linear(2, 2), "data": SQUARE, "loss": second, "margins": True},
            "the second or the last",
        ),
        ({"model": CONVOLUTION, "path_norm": True}, "a Unflatten"),
        ({"initial": {**TWO_LAYERS.state_dict(), "2.bias": torch.ones(3)}}, r"'2\.bias' has the"),
        ({"initial": 3}, "norms: initial"),
        ({"initial": {name: 0.0 for name in TWO_LAYERS.state_dict()}}, "is a float in initial"),
        ({"initial": {**TWO_LAYERS.state_dict(), "2.bias": torch.nan * torch.ones(2)}}, "NaN"),
    ],
)
def test_what_is_undefined_is_refused_if_it_is_requested(given, said):
    with pytest.raises(flatlas.FlatlasError, match=said):
        norms(**given)


def test_what_is_undefined_is_left_out_otherwise():
    found = flatlas.measure(CONVOLUTION, REGRESSION, ["norms"], loss="mse")
    assert [*found.table.quantity] == ["weight_norm"]
