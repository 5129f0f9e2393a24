"""The loss of any model as a function of w: against finite differences and curvlinops."""

from copy import deepcopy

import curvlinops
import pytest
import torch
from seven_models import dense_hessian, objective_of, seven
from torch import nn
from torch.nn.functional import embedding, embedding_bag

from flatlas import measure
from flatlas.errors import FlatlasError
from flatlas.models.dependence import refuse_without_loss

SEVEN = seven()


@pytest.fixture(scope="module", params=SEVEN)
def objective(request):
    return objective_of(*SEVEN[request.param])


def direction(objective):
    random = torch.Generator().manual_seed(1)
    return torch.randn(objective.size, generator=random, dtype=torch.float64)


def slope_along(objective, function, step=1e-7):
    v = direction(objective)
    return (function(objective.w + step * v) - function(objective.w - step * v)) / (2 * step)


def test_the_gradient_is_the_slope_of_the_loss(objective):
    value, gradient = objective.value_and_gradient(objective.w)
    assert value == pytest.approx(objective.value(objective.w).item(), rel=1e-14)
    expected = slope_along(objective, objective.value).item()
    assert (gradient @ direction(objective)).item() == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_the_hessian_is_the_slope_of_the_gradient(objective):
    (image,) = objective.hessian_product(direction(objective).unsqueeze(0))
    expected = slope_along(objective, lambda w: objective.value_and_gradient(w)[1])
    torch.testing.assert_close(image, expected, rtol=1e-4, atol=1e-5 * expected.abs().max().item())


def test_several_vectors_give_what_each_gives_alone(objective):
    v = direction(objective)
    pair = torch.stack([v, v.flip(0)])
    for product in (objective.hessian_product, objective.gauss_newton_product):
        alone = torch.cat([product(one.unsqueeze(0)) for one in pair])
        torch.testing.assert_close(product(pair), alone, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", ["MLP with dropout", "LSTM", "regression"])
def test_both_matrices_are_those_of_curvlinops(kind):
    model, data, loss, _ = SEVEN[kind]
    objective = objective_of(model, data, loss)
    reference = deepcopy(model).double().eval()
    data = [tuple(t.double() if t.is_floating_point() else t for t in pair) for pair in data]
    function = nn.MSELoss() if loss == "mse" else nn.CrossEntropyLoss()
    parameters = list(reference.parameters())
    unit = torch.eye(objective.size, dtype=torch.float64)
    for product, operator in (
        (objective.hessian_product, curvlinops.HessianLinearOperator),
        (objective.gauss_newton_product, curvlinops.GGNLinearOperator),
    ):
        expected = operator(reference, function, parameters, data) @ unit
        # For MSE, torch divides by all outputs, and so do flatlas and curvlinops.
        torch.testing.assert_close(product(unit).T, expected, rtol=1e-10, atol=1e-12)


def test_parameters_are_chosen_by_pattern_or_function():
    model, data, loss, _ = SEVEN["frozen layers"]
    names = [name for name, p in model.named_parameters() if p.requires_grad]
    assert [*objective_of(model, data, loss).shapes] == names
    assert [*objective_of(model, data, loss, "0.*").shapes] == ["0.weight", "0.bias"]
    assert [*objective_of(model, data, loss, ["0.bias", "4.*"]).shapes] == [
        "0.bias", "4.weight", "4.bias",
    ]  # fmt: skip
    matrices = objective_of(model, data, loss, lambda name, parameter: parameter.ndim == 2)
    assert [*matrices.shapes] == ["0.weight", "2.weight", "4.weight"]
    with pytest.raises(FlatlasError, match=r"heads.*Allowed: 0\.weight"):
        objective_of(model, data, loss, "heads.*")


def test_tied_weights_count_once():
    objective = objective_of(*SEVEN["transformer"])
    assert [name for name in objective.shapes if "weight" in name and "e" in name[:2]] == [
        "embedding.weight"
    ]
    assert "head.weight" not in objective.shapes


X, Y = torch.zeros(4, 4), torch.arange(4) % 3
MLP = SEVEN["MLP with dropout"][0]


@pytest.mark.parametrize(
    ("data", "loss", "said"),
    [
        ([], "cross_entropy", "no example"),
        (iter([(X, Y)]), "cross_entropy", "ends after one pass"),
        ((X, Y[:3]), "cross_entropy", "4 inputs, but 3 targets"),
        ([(X, Y, Y)], "cross_entropy", "batch 0 is a tuple"),
        ([{"x": X, "y": Y}], "cross_entropy", "labels, label, targets, target"),
        ([(X, Y), (X, Y[:2])], "cross_entropy", r"\(4, 3\), with its target.*\(2,\)"),
        ([(X / 0, Y)], "cross_entropy", "batch 0 has NaN"),
        ([(X, Y)], "mse", r"the same shape"),
        ([(X, Y)], lambda output, target: output, "Allowed: a tensor of one real number"),
        ([(X, Y)], lambda output, target: output.mean() * 1j, "complex128"),
        ([(X.to_sparse(), Y)], "cross_entropy", "batch 0 .*dense"),
        ([(X, Y)], "entropy", "Did you mean 'cross_entropy'"),
        (X, "cross_entropy", "the data are a Tensor"),
    ],
)
def test_what_cannot_be_measured_is_refused(data, loss, said):
    with pytest.raises(FlatlasError, match=said):
        objective = objective_of(MLP, data, loss)
        objective.value(objective.w)


WORDS = torch.tensor([[0, 1], [0, 2], [2, 0], [1, 1], [3, 0], [2, 2]])


class Embedded(nn.Module):
    """It calls torch's function, imported by its own name, with options of its own."""

    def __init__(self, of, weighted=False, offsets=None, **options):
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Embedding(4, 3)
        with torch.no_grad():
            self.table.weight[0] = torch.tensor([0.3, -0.5, 0.2])
        self.of, self.offsets, self.options = of, offsets, options
        self.head = nn.Linear(6 if of is embedding else 3, 2)
        self.weighted = weighted

    def forward(self, x):
        options = dict(self.options)
        if self.weighted:
            options["per_sample_weights"] = (x + 1.0).to(self.table.weight)
        if self.offsets is not None:
            x, options["offsets"] = x.flatten(), self.offsets
        made = self.of(x, self.table.weight, **options)
        return self.head(made.tanh().flatten(1))


LAYERS = {
    name: nn.Sequential(nn.Embedding(4, 3, **option), nn.Tanh(), nn.Flatten(), nn.Linear(6, 2))
    for name, option in {
        "by counts": {"scale_grad_by_freq": True},
        "padding": {"padding_idx": 0},
        "sparse": {"sparse": True},
    }.items()
}
EMBEDDED = {
    **LAYERS,
    "function, by counts": Embedded(embedding, scale_grad_by_freq=True),
    "function, padding": Embedded(embedding, padding_idx=0),
    "function, sparse": Embedded(embedding, sparse=True),
    "bag": nn.Sequential(nn.EmbeddingBag(4, 3), nn.Tanh(), nn.Linear(3, 2)),
    "bag, sparse sum": Embedded(embedding_bag, mode="sum", sparse=True, padding_idx=-4),
    "bag, weighted": Embedded(embedding_bag, weighted=True, mode="sum"),
    "bag, largest": Embedded(embedding_bag, mode="max"),
    # The third bag is empty.
    "bag, offsets": Embedded(embedding_bag, offsets=torch.tensor([0, 3, 5, 5, 6, 9])),
    "bag, last offset": Embedded(
        embedding_bag, offsets=torch.tensor([0, 3, 5, 5, 6, 9, 12]), include_last_offset=True
    ),
}


@pytest.mark.parametrize("name", EMBEDDED)
def test_derivatives_of_embeddings_are_those_of_the_loss(name):
    """Whatever a training does with their gradients, and whether torch has second derivatives."""
    objective = objective_of(EMBEDDED[name], (WORDS, torch.arange(6) % 2), "cross_entropy")
    value, gradient = objective.value_and_gradient(objective.w)
    assert value.item() == pytest.approx(objective.value(objective.w).item(), rel=1e-12)
    slope = slope_along(objective, objective.value, step=1e-6)
    torch.testing.assert_close(gradient @ direction(objective), slope, rtol=1e-6, atol=1e-8)
    (product,) = objective.hessian_product(direction(objective).unsqueeze(0))
    bend = slope_along(objective, lambda w: objective.value_and_gradient(w)[1], step=1e-6)
    torch.testing.assert_close(product, bend, rtol=1e-6, atol=1e-8)


class Centred(nn.Module):
    """It changes its input in place."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return self.layer(x.sub_(0.5))


def test_the_data_stay_as_they_are_if_a_model_works_on_them_in_place():
    images = torch.randn(6, 4, dtype=torch.float64)
    before = images.clone()
    objective = objective_of(Centred(), (images, torch.arange(6) % 3), "cross_entropy")
    first, second = (objective.value_and_gradient(objective.w)[0] for _ in range(2))
    assert first == second and torch.equal(images, before)


class Tied(nn.Module):
    """Its weights have two names."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(3, 3), nn.Linear(3, 3)
        self.outer.weight = self.inner.weight

    def forward(self, x):
        return self.outer(torch.tanh(self.inner(x)))


@pytest.mark.parametrize("chosen", ["outer.weight", "inner.weight", ["*.weight", "outer.weight"]])
def test_a_tied_parameter_is_chosen_by_each_of_its_names(chosen):
    data = (torch.randn(6, 3), torch.arange(6) % 3)
    assert list(objective_of(Tied(), data, "cross_entropy", chosen).shapes) == ["inner.weight"]


def test_a_layer_may_have_two_names():
    """As in a model that repeats its blocks; `seven_models.dense_hessian` is by torch alone."""
    torch.manual_seed(0)
    inner = nn.Linear(3, 3)
    model = nn.Sequential(inner, nn.Tanh(), inner, nn.Tanh(), nn.Linear(3, 3))
    x, y = torch.randn(6, 3), torch.arange(6) % 3
    objective = objective_of(model, [(x, y), (x, y)], "cross_entropy")
    refuse_without_loss(objective)
    rows = torch.eye(objective.size, dtype=torch.float64)
    assert torch.allclose(objective.hessian_product(rows), dense_hessian(model, x, y))
    assert all(isinstance(one, nn.Parameter) for one in objective.model.parameters())


def test_a_pattern_that_fits_none_is_refused_beside_one_that_fits():
    data = (torch.randn(6, 3), torch.arange(6) % 3)
    with pytest.raises(FlatlasError, match=r"'iner.\*', which fits none. Allowed: inner.weight"):
        objective_of(Tied(), data, "cross_entropy", ["outer.*", "iner.*"])


@pytest.mark.parametrize("labels", [[-1.0, 1.0, 1.0], [0.0, 2.0, 1.0], [0.0, float("nan"), 1.0]])
def test_binary_cross_entropy_refuses_what_is_no_share(labels):
    data = [(torch.randn(3, 4), torch.tensor(labels)[:, None])]
    with pytest.raises(FlatlasError, match=r"NaN|Allowed: 0 to 1"):
        refuse_without_loss(objective_of(nn.Linear(4, 1), data, "bce"))


def test_the_callers_autocast_does_not_cut_float32():
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 3))
    data = (torch.randn(6, 4), torch.arange(6) % 3)
    options = {"hessian": {"top": 1, "probes": 0, "bottom": 0}}
    plain = measure(model, data, options, dtype=torch.float32)["hessian"].eigenvalues
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = measure(model, data, options, dtype=torch.float32)["hessian"].eigenvalues
    assert inside.tolist() == plain.tolist()


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
def test_a_scripted_part_is_refused():
    model = nn.Sequential(nn.Linear(4, 4), torch.jit.script(nn.Linear(4, 3)))
    with pytest.raises(FlatlasError, match=r"before torch.jit.script"):
        objective_of(model, (torch.randn(6, 4), torch.arange(6) % 3), "cross_entropy")


@pytest.mark.parametrize("parameters", [{}, {"empty": nn.Parameter(torch.empty(0))}])
def test_a_model_without_a_weight_has_nothing_to_measure(parameters):
    model = nn.Sequential(nn.ReLU())
    for name, one in parameters.items():
        model.register_parameter(name, one)
    with pytest.raises(FlatlasError, match="nothing to measure"):
        objective_of(model, (torch.randn(6, 3), torch.arange(6) % 3), "cross_entropy")
