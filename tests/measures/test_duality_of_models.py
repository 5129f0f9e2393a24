"""The duality of a layer of any model: the workflow's numbers, and NumPy's on a model of tables."""

import numpy as np
import pytest
import torch
from seven_models import batches
from solutions import make_solution, module_of
from torch import nn

import flatlas
from flatlas.library.measures import duality
from flatlas.measures import measure

# What does not depend on the eigenvectors where there is no curvature; and what may.
SUMS = [
    "pairs", "zero_pairs", "unpartnered", "pairwise_gap", "dual_gap", "mu_gap", "S_w_curved",
    "T_g", "T_h", "T_w",
]  # fmt: skip
SHARP = ["n_sharp", "gap_sharp", "gap_flat", "S_w"]


def values_of(found):
    return found.table.set_index("quantity").value


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(("layer", "name"), [("fc1", "1"), ("fc2", "3"), ("fc3", "5")])
def test_it_is_that_of_the_workflow(layer, name, outputs):
    solution = make_solution("biases", outputs, images=100)
    options = {"layer": layer, "directions": "hessian", "sharp": "steepest"}
    tables = measure("duality", solution, options)
    expected = tables["summary"].loc[0]
    loss, shape, dtype = nn.CrossEntropyLoss(), (-1,), torch.long
    if outputs == 1:
        loss, shape, dtype = nn.BCEWithLogitsLoss(), (-1, 1), torch.double
    train, test = (
        batches(images[0], labels[0].view(shape).to(dtype), 9)
        for images, labels in (
            (solution.inputs, solution.labels), (solution.test_inputs, solution.test_labels),
        )
    )  # fmt: skip
    asked = {"duality": {"layer": name}}
    found = flatlas.measure(module_of(solution), train, asked, test=test, loss=loss)
    # The Hessian of this layer has no eigenvalue 0.
    names = SUMS + SHARP if layer == "fc2" else SUMS
    np.testing.assert_allclose(
        values_of(found)[names].tolist(), expected[names].tolist(), rtol=1e-8, atol=1e-11
    )
    rows, taken = tables["directions"].sort_values("eigenvalue"), found["duality"]
    order = taken.eigenvalue.argsort()
    curved = (rows["eigenvalue"] > 1e-6 * rows["eigenvalue"].max()).to_numpy()
    for column in ("eigenvalue", "sigma_g", "sigma_w", "gap"):
        by_value = getattr(taken, column)[order]
        np.testing.assert_allclose(by_value[curved], rows[column][curved], rtol=1e-6, atol=1e-11)


def logistic(outputs, labels):
    return nn.functional.softplus(-labels * outputs).mean()


@pytest.mark.parametrize("loss", [nn.SoftMarginLoss(), logistic])
def test_labels_of_minus_1_are_labels(loss):
    """The logistic loss of the labels −1 and 1 is that of 0 and 1 by another name."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
    x, x_test = torch.randn(40, 5), torch.randn(20, 5)
    y, y_test = ((one[:, :1] > 0).long() for one in (x, x_test))

    def found(loss, train, test):
        given = (x, train), {"duality": {"layer": "0"}}
        return values_of(flatlas.measure(model, *given, test=(x_test, test), loss=loss))

    expected = found("bce", y.double(), y_test.double())
    signed = found(loss, 2 * y - 1, 2 * y_test - 1)
    assert signed["pairs"] == 20
    np.testing.assert_allclose(signed[SUMS], expected[SUMS], rtol=1e-8, atol=1e-11)


class OfTables(nn.Module):
    """Rows of two tables, by name; smooth, with a norm behind the layer."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(5, 4)
        self.inner = nn.Linear(4, 3)
        self.norm = nn.LayerNorm(3)
        self.head = nn.Linear(3, 3)

    def forward(self, left, right):
        inner = self.inner(torch.tanh(self.first(torch.cat([left, right], 1))))
        return self.head(self.norm(nn.functional.gelu(inner)))


def tables(count, seed):
    random = torch.Generator().manual_seed(seed)
    left, right = (torch.randn(count, size, generator=random).double() for size in (2, 3))
    labels = torch.arange(count) % 3
    labels[::7] = -100
    return left, right, labels


def in_batches(left, right, labels, size):
    parts = zip(left.split(size), right.split(size), labels.split(size), strict=True)
    return [{"left": one, "right": two, "labels": three} for one, two, three in parts]


@pytest.mark.parametrize("weight", [None, torch.tensor([1.0, 2.0, 0.5])])
def test_it_is_its_definition_on_a_model_of_tables(weight):
    """Partners by search, dual weights by least squares, the Hessian by torch."""
    torch.manual_seed(0)
    model, n_sharp = OfTables().double(), 4
    train, test = tables(40, 1), tables(20, 2)
    found = flatlas.measure(
        model,
        in_batches(*train, size=16),
        {"duality": {"layer": "inner", "sharp": n_sharp}},
        test=in_batches(*test, size=6),
        loss=nn.CrossEntropyLoss(weight=weight),
        parameters="head.*",
    )
    shape = model.inner.weight.shape

    def losses(w, given, reduction):
        left, right, labels = given
        logits = torch.func.functional_call(model, {"inner.weight": w.view(shape)}, (left, right))
        chosen = weight.double() if reduction == "mean" and weight is not None else None
        return nn.functional.cross_entropy(logits, labels, chosen, reduction=reduction)

    w = model.inner.weight.detach().flatten()
    matrix = torch.autograd.functional.hessian(lambda w: losses(w, train, "mean"), w)
    _, vectors = np.linalg.eigh(matrix.numpy())

    def activity(given):
        with torch.no_grad():
            return torch.tanh(model.first(torch.cat(given[:2], 1))).numpy()

    gaps, shifts = [], []
    w_before = model.inner.weight.detach().numpy()
    at, at_test = (losses(w, given, "none").detach().numpy() for given in (train, test))
    x, x_test = (torch.cat(given[:2], 1).numpy() for given in (train, test))
    a, a_test = activity(train), activity(test)
    for number, label in enumerate(test[2].tolist()):
        if label >= 0:
            distance = np.linalg.norm(x - x_test[number], axis=1)
            distance[train[2].numpy() != label] = np.inf
            partner = distance.argmin()
            # The shortest Δw with Δw a = w (a′ − a).
            change = w_before @ (a_test[number] - a[partner])
            shifts.append(np.outer(change, np.linalg.pinv(a[partner][:, None])).flatten())
            gaps.append(at_test[number] - at[partner])
            moved = losses(w + torch.from_numpy(shifts[-1]), train, "none")[partner]
            assert moved.item() == pytest.approx(at_test[number], rel=1e-9)
    gaps, shifts = np.array(gaps), np.array(shifts)
    slopes = (gaps / (shifts**2).sum(1))[:, None] * shifts
    g, dw = slopes @ vectors, shifts @ vectors
    by_direction = ((g - g.mean(0)) * (dw - dw.mean(0))).mean(0)
    order = np.argsort(-g.std(0))
    taken, values = found["duality"], values_of(found)
    np.testing.assert_allclose(taken.sigma_g, g.std(0)[order], rtol=1e-7)
    np.testing.assert_allclose(taken.sigma_w, dw.std(0)[order], rtol=1e-7)
    np.testing.assert_allclose(taken.gap, by_direction[order], rtol=1e-6, atol=1e-12)
    assert values["pairs"] == len(gaps) == 17
    assert values["unpartnered"] == 3
    assert values["pairwise_gap"] == pytest.approx(gaps.mean(), rel=1e-9)
    assert values["gap_sharp"] == pytest.approx(by_direction[order][:n_sharp].sum(), rel=1e-7)
    assert values["dual_gap"] + values["mu_gap"] == pytest.approx(gaps.mean(), rel=1e-9)
    assert values["T_h"] == pytest.approx(matrix.trace().item(), rel=1e-9)


class Past(nn.Module):
    """A layer with something beside it, called so many times on so many tokens."""

    def __init__(self, skip=0.0, calls=1, tokens=1):
        super().__init__()
        torch.manual_seed(0)
        self.skip, self.calls, self.tokens = skip, calls, tokens
        self.layer, self.head = nn.Linear(4, 4), nn.Linear(4, 3)
        self.tied = nn.Linear(4, 4)
        self.other = nn.Linear(4, 4)
        self.other.weight = self.tied.weight

    def forward(self, x):
        z = x
        for _ in range(self.calls):
            z = self.layer(torch.tanh(z.unsqueeze(1).expand(-1, self.tokens, -1))).mean(1)
        return self.head(torch.tanh(z) + self.skip * x)


X, LABELS = torch.randn(24, 4, generator=torch.Generator().manual_seed(0)), torch.arange(24) % 3
DATA = X[:16], LABELS[:16]
TEST = X[16:], LABELS[16:]
REGRESSION = {"data": (X, X[:, :3]), "test": (X, X[:, :3])}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_layer_without_a_way_past_it_is_measured(dtype):
    found = flatlas.measure(Past(), DATA, {"duality": {"layer": "layer"}}, test=TEST, dtype=dtype)
    assert values_of(found)["sum_rule_residual"] < 1e-10


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_gap_of_0_leaves_room_for_round_off(dtype):
    """The test data are the training data in other batches, so losses differ in their last bits."""
    torch.manual_seed(0)
    model, found = nn.Sequential(*map(nn.Linear, (4, 32, 32), (32, 32, 3))), []
    for size in (5, 16):
        test, asked = batches(*DATA, size), {"duality": {"layer": "1"}}
        found.append(flatlas.measure(model, DATA, asked, test=test, dtype=dtype))
    for one in found:
        assert abs(values_of(one)["pairwise_gap"]) < 100 * torch.finfo(dtype).eps


def hooked(model):
    """The layer's output times three, which its weight does not show."""
    model.layer.register_forward_hook(lambda layer, given, made: 3 * made)
    return model


@pytest.mark.parametrize(
    ("model", "layer", "changed", "said"),
    [
        (Past(skip=0.1), "layer", {}, "may bypass the layer, such as a skip connection"),
        (Past(calls=2), "layer", {}, "called 2 times"),
        (Past(calls=0), "layer", {}, "called never"),
        (Past(tokens=2), "layer", {}, "one vector for each example"),
        (Past(), "tied", {}, "shares its weight"),
        (Past(), "layers", {}, "Did you mean 'layer'"),
        (Past(), "layer", {"test": None}, "give test="),
        (hooked(Past()), "layer", {}, "its class or a hook changes that"),
        (Past(), "layer", {**REGRESSION, "loss": "mse"}, "a label for each example"),
        (nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)), "", {}, "of which it has none"),
    ],
)
def test_a_model_without_it_is_refused(model, layer, changed, said):
    given = {"data": DATA, "test": TEST, **changed}
    with pytest.raises(flatlas.FlatlasError, match=said):
        flatlas.measure(model, given.pop("data"), {"duality": {"layer": layer}}, **given)


class Calling(nn.Sequential):
    """A chain that calls its last layer in its own way."""

    def __init__(self, call, *layers):
        super().__init__(*layers)
        self.call = call

    def forward(self, x):
        *others, last = self
        for part in others:
            x = part(x)
        return self.call(last, x)


class WithMore(nn.Linear):
    """A layer that takes more than its input."""

    def forward(self, input, scale=1.0):
        return super().forward(input) * scale


class ScaleFirst(nn.Linear):
    """A layer whose input has another name and comes second."""

    def forward(self, scale, x):
        return super().forward(x) * scale


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (nn.Linear, lambda last, x: last(input=x)),
        (WithMore, lambda last, x: last(x, 1.0)),
        (ScaleFirst, lambda last, x: last(1.0, x=x)),
    ],
)
def test_a_layer_may_get_its_input_by_name_or_beside_others(kind, call):
    layers = nn.Linear(4, 4), nn.Tanh(), kind(4, 3)
    alone = nn.Linear(4, 3)
    alone.load_state_dict(layers[-1].state_dict())
    called, plain = (
        values_of(flatlas.measure(model, DATA, {"duality": {"layer": "2"}}, test=TEST))
        for model in (Calling(call, *layers), nn.Sequential(*layers[:2], alone))
    )
    assert called.equals(plain)


@pytest.mark.parametrize("kind", [nn.ReLU, nn.LeakyReLU, nn.SiLU])
def test_what_follows_may_work_in_place(kind):
    layers = nn.Linear(4, 4), nn.Linear(4, 3)
    in_place, plain = (
        values_of(flatlas.measure(model, DATA, {"duality": {"layer": "0"}}, test=TEST))
        for model in (nn.Sequential(layers[0], kind(inplace=on), layers[1]) for on in (True, False))
    )
    assert in_place.equals(plain)


def test_tokens_have_no_nearest_example():
    model = nn.Sequential(nn.Embedding(5, 4), nn.Flatten(), nn.Linear(8, 3))
    data = torch.randint(5, (6, 2)), torch.arange(6) % 3
    with pytest.raises(flatlas.FlatlasError, match=r"torch\.int64.*has no distance"):
        flatlas.measure(model, data, {"duality": {"layer": "2"}}, test=data)


def test_a_layer_whose_hessian_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(duality, "WEIGHTS", 15)
    with pytest.raises(flatlas.FlatlasError, match=r"16 weights.*at most 15"):
        flatlas.measure(Past(), DATA, {"duality": {"layer": "layer"}}, test=TEST)
