"""Sharpness measures of any model: definitions, and what rescaling does not change."""

import numpy as np
import pytest
import torch
from seven_models import batches, seven
from torch import nn

import flatlas

SEVEN = seven()


def relu_net():
    torch.manual_seed(1)
    widths = [(4, 5), (5, 5), (5, 3)]
    first, second, third = (nn.Linear(*width) for width in widths)
    return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), third).double()


def rescaled(factor):
    """The same function: the first layer times a factor or one for each output."""
    model = relu_net()
    with torch.no_grad():
        model[0].weight *= torch.as_tensor(factor).reshape(-1, 1)
        model[0].bias *= factor
        model[2].weight /= factor
    return model


X = torch.randn(12, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
DATA = X, torch.arange(12) % 3
NEURONS = torch.tensor([0.2, 0.5, 1.0, 3.0, 8.0])


@pytest.mark.parametrize("p", [2, "infinity"])
@pytest.mark.parametrize("factor", [4.0, NEURONS], ids=["layer", "neurons"])
def test_rescaling_changes_no_adaptive_sharpness(p, factor):
    for adaptive in (True, False):
        few = {"adaptive": adaptive, "starts": 2, "steps": 10}
        measures = {
            "adaptive_sharpness": {"p": p, **few, "pairs": 2},
            "m_sharpness": {"p": p, **few, "examples": 3},
        }
        before, after = (
            flatlas.measure(model, DATA, measures).table.value.to_numpy()
            for model in (relu_net(), rescaled(factor))
        )
        unchanged = np.isclose(before, after, rtol=1e-7, atol=0)
        assert unchanged.tolist() == [adaptive] * 4


def test_m_sharpness_is_the_mean_over_groups_of_each_alone():
    """The fifth example of a batch is left out."""
    options = {"radius": 0.1, "p": 2, "adaptive": True, "starts": 1}
    few = {"m_sharpness": {"examples": 2, **options}}
    found = flatlas.measure(relu_net(), batches(*DATA, 5), few)
    groups = [[0, 1], [2, 3], [5, 6], [7, 8], [10, 11]]
    alone = [
        flatlas.measure(
            relu_net(),
            (DATA[0][group], DATA[1][group]),
            {"adaptive_sharpness": {"pairs": 2, **options}},
        )["adaptive_sharpness"].worst
        for group in groups
    ]
    rises = np.array([one.rise for one in alone])
    taken = found["m_sharpness"]
    np.testing.assert_allclose(taken.rises, rises, rtol=1e-9)
    assert taken.mean.value == pytest.approx(rises.mean())
    assert taken.mean.standard_error == pytest.approx(rises.std(ddof=1) / 5**0.5)
    assert taken.search_error == pytest.approx(np.mean([one.left for one in alone]))
    assert taken.iterations == sum(one.iterations for one in alone)


def test_a_group_whose_labels_are_all_ignored_is_left_out():
    """If the loss is a sum, such a group would otherwise count as 0 in the mean."""
    ignored, few = DATA[1].clone(), {"m_sharpness": {"examples": 3, "starts": 1, "steps": 5}}
    ignored[3:6] = -100
    kept = [0, 1, 2, 6, 7, 8, 9, 10, 11]
    for loss in (nn.CrossEntropyLoss(), nn.CrossEntropyLoss(reduction="sum")):
        found, expected = (
            flatlas.measure(relu_net(), data, few, loss=loss)["m_sharpness"]
            for data in ((X, ignored), (X[kept], ignored[kept]))
        )
        assert found.rises.tolist() == expected.rises.tolist()
    ignored[3:] = -100
    with pytest.raises(
        flatlas.FlatlasError, match="groups of 3 examples with a label that counts: 1"
    ):
        flatlas.measure(relu_net(), (X, ignored), few)


@pytest.mark.parametrize(("examples", "fewer"), [(1, False), (3, True)])
def test_only_groups_of_several_examples_may_be_smaller(examples, fewer):
    few = {"m_sharpness": {"examples": examples}}
    with pytest.raises(flatlas.FlatlasError, match="groups of") as refused:
        flatlas.measure(relu_net(), (X[:examples], DATA[1][:examples]), few)
    assert ("fewer examples" in str(refused.value)) == fewer


def test_without_a_choice_there_are_two_groups():
    """A group has three of 7 examples, all of a batch of 16 if there are two, and at most 32."""
    for sizes, expected in (([7], 3), ([16, 16], 16), ([40], 20), ([200], 32), ([1, 1], 1)):
        data = [(X[:1].expand(size, -1), DATA[1][:1].expand(size)) for size in sizes]
        few = {"m_sharpness": {"starts": 1, "steps": 1}}
        assert flatlas.measure(relu_net(), data, few)["m_sharpness"].examples == expected


def test_normalized_logits_cannot_be_scaled():
    """The loss is that of logits over their standard deviation, also of a longer last layer."""
    wider = relu_net()
    with torch.no_grad():
        wider[4].weight *= 10
        wider[4].bias *= 10
    logits = relu_net()(DATA[0]).detach().numpy()
    unit = torch.from_numpy(logits / logits.std(axis=1, keepdims=True))
    expected = nn.functional.cross_entropy(unit, DATA[1]).item()
    options = {"normalize_logits": True, "radius": 0.1, "starts": 2}
    one, other = (
        flatlas.measure(model, DATA, {"adaptive_sharpness": options})["adaptive_sharpness"]
        for model in (relu_net(), wider)
    )
    assert one.worst.loss == pytest.approx(expected, rel=1e-12)
    assert other.worst.rise == pytest.approx(one.worst.rise, rel=1e-9)
    assert other.mean.value == pytest.approx(one.mean.value, rel=1e-9)


class Words(nn.Module):
    """Logits of words, with the classes last or second."""

    def __init__(self, last):
        super().__init__()
        torch.manual_seed(0)
        self.last, self.table, self.head = last, nn.Embedding(7, 8), nn.Linear(8, 7)

    def forward(self, words):
        logits = self.head(self.table(words).tanh())
        return logits if self.last else logits.movedim(-1, 1)


def test_logits_are_normalized_over_the_classes_wherever_they_are():
    def of_each_word(output, target):
        return nn.functional.cross_entropy(output.flatten(0, -2), target.flatten())

    words = torch.arange(60).reshape(12, 5) % 7
    options = {"adaptive_sharpness": {"normalize_logits": True, "radius": 0.1, "starts": 2}}
    last = flatlas.measure(Words(True), (words, words), options, loss=of_each_word)
    second = flatlas.measure(Words(False), (words, words), options)
    assert last.table.value.tolist() == pytest.approx(second.table.value.tolist(), rel=1e-6)
    square = torch.arange(49).reshape(7, 7) % 7
    with pytest.raises(flatlas.FlatlasError, match="which dimension of the output"):
        flatlas.measure(Words(True), (square, square), options, loss=of_each_word)


BATCHES = batches(*DATA)


def test_minibatch_ascent_is_that_of_a_plain_loop():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    options = {"by": "sgd", "box": 0.05, "lr": 0.2, "epochs": 7}
    found = flatlas.measure(model, BATCHES, {"box_sharpness": options})["box_sharpness"]
    corner = flatlas.measure(model, BATCHES, {"box_sharpness": {"box": 0.05}})["box_sharpness"]

    def loss(data):
        return torch.stack([nn.functional.cross_entropy(model(x), y) for x, y in data]).mean()

    start = [p.detach().clone() for p in model.parameters()]
    curve = [loss(BATCHES).item()]
    for _ in range(7):
        for batch in BATCHES:
            slopes = torch.autograd.grad(loss([batch]), list(model.parameters()))
            with torch.no_grad():
                for p, w, g in zip(model.parameters(), start, slopes, strict=True):
                    side = 0.05 * (w.abs() + 1)
                    p.copy_((p + 0.2 * g).clamp(w - side, w + side))
        curve.append(loss(BATCHES).item())
    rise = np.max(curve) - curve[0]
    assert found.sharpness == pytest.approx(100 * rise / (1 + curve[0]), rel=1e-9)
    assert found.last == pytest.approx(100 * (curve[-1] - curve[0]) / (1 + curve[0]), rel=1e-9)
    assert 0 < found.sharpness <= corner.sharpness * (1 + 1e-9)


def test_minibatch_ascent_below_the_corner_of_the_slope_has_not_converged():
    """Steps as long as the box go to the corner of the last minibatch alone."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    options = {"by": "sgd", "box": 1e-3, "lr": 10.0, "epochs": 20}
    found = flatlas.measure(model, BATCHES, {"box_sharpness": options})["box_sharpness"]
    assert not found.converged
    before = nn.functional.cross_entropy(model(DATA[0]), DATA[1])
    before.backward()
    with torch.no_grad():
        for p in model.parameters():
            p += 1e-3 * (p.abs() + 1) * p.grad.sign()
        corner = nn.functional.cross_entropy(model(DATA[0]), DATA[1])
    error = found.quantities()["sharpness"].error
    there = (100 * (corner - before) / (1 + before)).item()
    assert found.sharpness + error == pytest.approx(there, rel=1e-9)
    assert error > there / 10


@pytest.mark.parametrize("shift", [-5.0, -1.0])
def test_a_loss_of_at_most_minus_one_has_no_share(shift):
    model = nn.Linear(4, 3, bias=False).double()
    nn.init.zeros_(model.weight)

    def loss(output, target):
        return (output**2).mean() + shift

    with pytest.raises(flatlas.FlatlasError, match="1 \\+ loss"):
        flatlas.measure(model, BATCHES, ["box_sharpness"], loss=loss)


def by_definition(model, name):
    """Σ ⟨w_s, w_s'⟩ tr H_ss' from the dense Hessian of one weight."""
    weight = model.get_parameter(name).detach().clone()
    outputs, inputs = weight.shape

    def loss(flat):
        named = {name: flat.view(outputs, inputs)}
        logits = torch.func.functional_call(model, named, DATA[0])
        return nn.functional.cross_entropy(logits, DATA[1])

    hessian = torch.autograd.functional.hessian(loss, weight.flatten())
    blocks = hessian.view(outputs, inputs, outputs, inputs)
    return sum(
        (weight[s] @ weight[r] * blocks[s, :, r].trace()).item()
        for s in range(outputs)
        for r in range(outputs)
    )


@pytest.mark.parametrize("name", ["0.weight", "2.weight", "4.weight"])
def test_relative_flatness_is_that_of_the_dense_hessian(name):
    expected = by_definition(relu_net(), name)
    exact, sampled = (
        flatlas.measure(relu_net(), DATA, {"relative_flatness": {"weight": name, "probes": probes}})
        for probes in (25, 14)
    )
    found = exact["relative_flatness"]
    assert found.exact
    assert found.flatness.value == pytest.approx(expected, rel=1e-10)
    found = sampled["relative_flatness"]
    assert (found.exact, found.products) == (False, 14)
    assert found.flatness.standard_error > 0
    assert abs(found.flatness.value - expected) < 4 * found.flatness.standard_error


def test_sampled_relative_flatness_has_no_bias_and_its_standard_error():
    expected = by_definition(relu_net(), "4.weight")
    drawn = [
        flatlas.measure(relu_net(), DATA, {"relative_flatness": {"probes": 10}}, seed=seed)[
            "relative_flatness"
        ].flatness
        for seed in range(60)
    ]
    values, errors = (
        np.array([getattr(one, name) for one in drawn]) for name in ("value", "standard_error")
    )
    assert abs(values.mean() - expected) < 4 * values.std(ddof=1) / 60**0.5
    assert np.sqrt((errors**2).mean()) == pytest.approx(values.std(ddof=1), rel=0.35)


def test_the_last_linear_layer_is_taken_by_its_parameter_also_if_it_is_tied():
    for kind, name in {"transformer": "embedding.weight", "LSTM": "head.weight"}.items():
        model, data, loss, _ = SEVEN[kind]
        found = flatlas.measure(model, data, {"relative_flatness": {"probes": 2}}, loss=loss)
        assert found["relative_flatness"].weight == name


def test_a_tied_matrix_has_the_same_relative_flatness_by_each_of_its_names():
    model, data, loss, _ = SEVEN["transformer"]
    assert model.head.weight is model.embedding.weight
    first, second = (
        flatlas.measure(
            model, data, {"relative_flatness": {"weight": name, "probes": 2}}, loss=loss
        )
        for name in ("embedding.weight", "head.weight")
    )
    assert second["relative_flatness"].flatness == first["relative_flatness"].flatness


@pytest.mark.parametrize(
    ("kind", "measures", "said"),
    [
        ("transformer", {"m_sharpness": {"normalize_logits": True, "examples": 2}}, "a dict"),
        ("LSTM", {"adaptive_sharpness": {"p": 1}}, "p is 1"),
        ("LSTM", {"relative_flatness": {"weight": "head.wieght"}}, "Did you mean 'head.weight'"),
        ("ResNet with batch norm", {"relative_flatness": {"weight": "first.weight"}}, "a matrix"),
    ],
)
def test_what_is_not_defined_is_refused(kind, measures, said):
    model, data, loss, parameters = SEVEN[kind]
    with pytest.raises(flatlas.FlatlasError, match=said):
        flatlas.measure(model, data, measures, loss=loss, parameters=parameters)


def test_a_loss_that_is_nan_is_refused():
    silent = relu_net()
    nn.init.zeros_(silent[4].weight)
    nn.init.zeros_(silent[4].bias)
    for measure in ("adaptive_sharpness", "m_sharpness"):
        options = {"normalize_logits": True} | ({"examples": 2} if measure[0] == "m" else {})
        with pytest.raises(flatlas.FlatlasError, match=r"is nan.*finite"):
            flatlas.measure(silent, DATA, {measure: options})
