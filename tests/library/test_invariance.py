"""Rescalings that leave a function as it is: found by tracing, and what they do to measures."""

from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from seven_models import Through, seven
from torch import nn
from torchvision.models import resnet18

import flatlas
from flatlas.library.invariance import Invariance
from flatlas.models.rescaling import rescalings

SEVEN = seven()
X, Y = torch.randn(12, 4, generator=torch.Generator().manual_seed(0)), torch.arange(12) % 3
FEW = {"hessian": {"top": 1, "probes": 2, "tolerance": 1e-10}}


def found_in(model):
    return {one.layer: one.undone_by for one in rescalings(model.eval())}


class Branched(nn.Module):
    """One layer that two others can undo, one that goes out as it is, one used twice."""

    def __init__(self):
        super().__init__()
        self.split, self.seen, self.twice = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
        self.left, self.right = nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x):
        x = self.twice(torch.relu(self.twice(x)))
        seen = self.seen(x)
        x = torch.relu(self.split(seen)).view(x.size(0), -1)
        return self.left(x) + self.right(nn.functional.leaky_relu(x)), seen


def test_a_layer_is_rescaled_if_all_that_follows_can_undo_it():
    assert found_in(Branched()) == {"split": ("left", "right")}
    assert found_in(SEVEN["ResNet with batch norm"][0]) == {"norm": ("second",)}
    squeezed = found_in(SEVEN["from torchvision"][0])
    assert squeezed["features.0"] == ("features.3.squeeze",)
    # A layer whose output is concatenated with another is not found.
    assert "features.3.expand1x1" not in squeezed


@pytest.mark.parametrize("between", [nn.Tanh(), nn.GELU(), nn.Sequential(), nn.LayerNorm(5)])
def test_only_what_lets_a_factor_through_counts(between):
    model = nn.Sequential(nn.Linear(4, 5), between, nn.Linear(5, 3))
    if isinstance(between, nn.Sequential):
        assert found_in(model) == {"0": ("2",)}
        return
    with pytest.raises(flatlas.FlatlasError, match="no rescaling"):
        rescalings(model)


def test_weights_that_are_tied_or_computed_are_left_alone():
    tied = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 3))
    tied[0].weight = tied[2].weight
    computed = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 3))
    nn.utils.parametrizations.weight_norm(computed[2])
    for model in (tied, computed):
        with pytest.raises(flatlas.FlatlasError, match="no rescaling"):
            rescalings(model)


class Repeated(nn.Module):
    """Batch norm without weights of its own, before two layers and after two others."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4, affine=False)
        self.second, self.last = nn.Linear(4, 4), nn.Linear(4, 3)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        return self.last(torch.relu(self.norm(self.second(x))))


def test_a_batch_norm_that_is_called_twice_undoes_no_factor():
    with pytest.raises(flatlas.FlatlasError, match="no rescaling"):
        rescalings(Repeated().eval())


def test_a_resnet_keeps_its_function_when_all_is_rescaled():
    """28 of them: convolutions before batch norm, and batch norm before ReLU and convolutions."""
    torch.manual_seed(0)
    model = resnet18(num_classes=3).double()
    images = torch.randn(4, 3, 32, 32, dtype=torch.float64)
    model(images)
    expected = model.eval()(images)
    found = rescalings(model)
    assert len(found) == 28
    for one, factor in zip(found, 14 * [0.1, 7.0], strict=True):
        one.apply(model, factor)
    torch.testing.assert_close(model(images), expected, rtol=1e-10, atol=0)


@pytest.fixture(scope="module")
def relu():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Dropout(), nn.Linear(5, 3))


def test_the_hessian_moves_and_the_fisher_rao_norm_does_not(relu):
    """wᵀGw is of the derivatives along w, which no factor changes (Liang et al. 2019)."""
    model = deepcopy(relu)
    measures = FEW | {"gauss_newton": {"top": 1, "probes": 2, "tolerance": 1e-10}}
    before = deepcopy(model.state_dict())
    found = flatlas.invariance(model, (X, Y), measures, draws=2)
    table = found.table.set_index(["measure", "quantity"])
    assert table.moves["hessian", "eigenvalue_1"]
    assert not table.moves["gauss_newton", "fisher_rao"]
    fisher = table.loc[("gauss_newton", "fisher_rao")]
    assert fisher.least == pytest.approx(fisher.value, rel=1e-10)
    assert fisher.greatest == pytest.approx(fisher.value, rel=1e-10)
    assert found.difference < 1e-12
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)


def test_outputs_that_overflow_are_not_the_same(relu):
    with pytest.raises(flatlas.FlatlasError, match="outputs change by nan"):
        flatlas.invariance(relu, (X, Y), FEW, factor=1e300, dtype=torch.float32)


@pytest.mark.parametrize("kind", SEVEN)
def test_any_model_has_rescalings_or_says_that_it_has_none(kind):
    model, data, loss, parameters = SEVEN[kind]
    options = {"draws": 1, "loss": loss, "parameters": parameters}
    if kind not in ("ResNet with batch norm", "from torchvision"):
        with pytest.raises(flatlas.FlatlasError, match="no rescaling"):
            flatlas.invariance(model, data, FEW, **options)
        return
    found = flatlas.invariance(model, data, {"hessian": {"top": 1, "probes": 2}}, **options)
    assert found.difference < 1e-12
    assert found.table.set_index("quantity").moves["eigenvalue_1"]


def test_each_copy_is_the_model_with_its_factors(relu):
    found = flatlas.invariance(relu, (X, Y), FEW, draws=2, factor=3, seed=1)
    assert [*found.factors.columns] == ["0"]
    assert ((found.factors > 1 / 3) & (found.factors < 3)).all(axis=None)
    for factor, taken in zip(found.factors["0"], found.rescaled, strict=True):
        copy = deepcopy(relu).double()
        with torch.no_grad():
            copy[0].weight *= factor
            copy[0].bias *= factor
            copy[3].weight /= factor
        expected = flatlas.measure(copy, (X, Y), FEW, seed=1)
        assert taken.table.value.tolist() == pytest.approx(expected.table.value.tolist(), rel=1e-6)


class Dependent(nn.Module):
    """What it does depends on what it is given."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return self.layer(x if x.sum() > 0 else -x)


def clamped():
    """A hook, which tracing does not see."""
    model = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))
    model[0].register_forward_hook(lambda layer, given, output: output.clamp(max=0.1))
    return model


@pytest.mark.parametrize(
    ("model", "measures", "options", "said"),
    [
        (Dependent(), FEW, {}, "can't be traced"),
        (clamped(), FEW, {}, "outputs change by"),
        (nn.Linear(4, 3), FEW, {}, "no rescaling"),
        (nn.Linear(4, 3), ["hesian"], {}, "Did you mean 'hessian'"),
        (nn.Linear(4, 3), FEW, {"factor": 1}, "factor is 1"),
        (nn.Linear(4, 3), FEW, {"factor": float("inf")}, "factor is inf"),
        (nn.Linear(4, 3), FEW, {"draws": 0}, "draws is 0"),
    ],
)
def test_what_cannot_be_rescaled_is_refused(model, measures, options, said):
    with pytest.raises(flatlas.FlatlasError, match=said):
        flatlas.invariance(model, (X, Y), measures, **options)


def test_masked_outputs_may_be_infinite():
    third = torch.tensor([False, False, True])
    masked = Through(lambda x: x.masked_fill(third, -torch.inf))
    model = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3), masked)
    found = flatlas.invariance(model, (X, Y % 2), {"norms": {"margins": False}}, draws=1)
    assert found.difference < 1e-12


@pytest.mark.parametrize("odd", [np.inf, np.nan])
def test_what_is_infinite_or_undefined_in_every_copy_does_not_move(odd):
    def found(values):
        rows = {"value": values, "error": 0.0, "converged": True, "seconds": 1.0}
        return SimpleNamespace(table=pd.DataFrame(rows))

    copies = [found([odd, odd, 2.0]), found([odd, 3.0, 2.0])]
    seen = Invariance(pd.DataFrame(), 0.0, found([odd, odd, 2.0]), copies, 1e-8)
    assert seen.table.moves.tolist() == [False, True, False]
