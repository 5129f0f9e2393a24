"""One call: what comes back, and that nothing else changes."""

import random
from copy import deepcopy
from itertools import product

import numpy as np
import pytest
import torch
from seven_models import dense_hessian, seven
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.data import DataLoader, TensorDataset

import flatlas

SEVEN = seven()


def problem():
    model, data, _, _ = SEVEN["MLP with dropout"]
    inputs, targets = (torch.cat(parts) for parts in zip(*data, strict=True))
    return model, inputs, targets


# Options of each measure, and its quantities for any model.
EVERY = {
    "hessian": ({"top": 2, "probes": 2}, "eigenvalue_1 eigenvalue_2 lowest_1 trace frobenius"),
    "adaptive_sharpness": ({"pairs": 2, "radius": 1e-2, "starts": 1}, "worst mean first_order"),
    "m_sharpness": ({"examples": 2, "radius": 1e-2, "starts": 1}, "m_sharpness"),
    "box_sharpness": ({"epochs": 20}, "sharpness first_order rest"),
    "relative_flatness": ({"probes": 3}, "relative_flatness"),
    "learning_coefficient": (
        {"chains": 2, "steps": 4, "burn_in": 2, "minibatches": True},
        "coefficient r_hat drift accepted minibatch_bias",
    ),
    "pac_bayes": ({"pairs": 2, "tolerance": 0.1}, "sigma sigma_magnitude_aware"),
    "gradient_noise": ({"top": 1}, "trace scale share_along_hessian gradient_norm"),
    "norms": ({}, "weight_norm"),
    "pca_flatness": ({}, "flatness_1 flatness_2 variance_1 variance_2"),
    "regret": ({"radius": 1e-3}, "regret dissimilarity norm true_regret"),
}
CONVERGING = ("hessian", "adaptive_sharpness", "m_sharpness", "box_sharpness", "relative_flatness")


def trajectory(model):
    """Four models that end at this one."""
    steps, random = [model], torch.Generator().manual_seed(0)
    for _ in range(3):
        steps.append(deepcopy(steps[-1]))
        with torch.no_grad():
            for parameter in steps[-1].parameters():
                parameter += 0.01 * torch.randn(parameter.shape, generator=random)
    return steps


def taken(kind, measure, **settings):
    """The table of one measure of one kind of model."""
    model, data, loss, parameters = SEVEN[kind]
    options, _ = EVERY[measure]
    if measure == "pca_flatness":
        options = {"trajectory": trajectory(model)}
    # Four batches of two examples.
    four = 2 * [tree_map(lambda t, at=at: t[at : at + 2], data[0]) for at in (0, 2)]
    if len(tree_leaves(data[0])[0]) == 2:
        four = 2 * data
    asked = {measure: options}
    return flatlas.measure(model, four, asked, loss=loss, parameters=parameters, **settings).table


WITHOUT_LINEAR = ("from torchvision", "relative_flatness")


@pytest.mark.parametrize("measure", EVERY)
@pytest.mark.parametrize("kind", SEVEN)
def test_any_model_has_each_measure_that_is_defined_for_it(kind, measure):
    if (kind, measure) == WITHOUT_LINEAR:
        with pytest.raises(flatlas.FlatlasError, match=r"weight of an nn\.Linear"):
            taken(kind, measure)
        return
    expected, table = EVERY[measure][1].split(), taken(kind, measure)
    if measure == "norms" and kind != "regression":
        expected += ["margin_lowest", "margin_tenth"]
    if measure == "pac_bayes" and kind not in ("regression", "frozen layers", "from torchvision"):
        expected.append("error_bound_from_zero")
    assert [*table.quantity] == expected
    assert np.isfinite(table.value[table.quantity != "r_hat"]).all()
    if measure in CONVERGING:
        assert np.isfinite(table.error).all()
        # Here the loss is not convex, and a search in a box jumps from corner to corner.
        jumps = kind == "from torchvision" and measure in ("adaptive_sharpness", "box_sharpness")
        assert table.converged.all() != jumps
    if measure.endswith("sharpness"):
        assert table.value[0] > 0
    if measure == "pca_flatness":
        assert (table.value > 0).all()


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("kind", "measure"), [pair for pair in product(SEVEN, EVERY) if pair != WITHOUT_LINEAR]
)
def test_a_gpu_finds_what_the_cpu_finds(kind, measure):
    """Random numbers on a GPU differ: what another seed does not change must be the same."""
    expected, other = taken(kind, measure), taken(kind, measure, seed=1)
    found = taken(kind, measure, device="cuda")
    assert [*found.quantity] == [*expected.quantity]
    same = np.isclose(expected.value, other.value, rtol=1e-6, atol=1e-12, equal_nan=True)
    np.testing.assert_allclose(found.value[same], expected.value[same], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("at", ["forward", "backward"])
def test_a_gpu_without_enough_memory_is_no_mystery(at):
    model, inputs, targets = problem()

    class Full(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            if at == "forward":
                raise torch.OutOfMemoryError("CUDA out of memory")
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise torch.OutOfMemoryError("CUDA out of memory")

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self, x):
            return Full.apply(self.inner(x))

    with pytest.raises(flatlas.FlatlasError, match="device='cpu'"):
        flatlas.measure(Model(), (inputs, targets), "hessian")


@pytest.mark.gpu
def test_a_model_on_a_gpu_is_measured_there():
    """The probes of a trace are random numbers of the device."""
    model, inputs, targets = problem()
    there, asked, here = (
        flatlas.measure(one, (inputs, targets), {"hessian": {"probes": 2}}, **device).table
        for one, device in (
            (deepcopy(model).cuda(), {}),
            (model, {"device": "cuda"}),
            (deepcopy(model).cuda(), {"device": "cpu"}),
        )
    )
    np.testing.assert_allclose(there.value, asked.value, rtol=1e-9)
    assert not np.allclose(there.value, here.value, rtol=1e-9)


def test_the_eigenvalues_trace_and_norm_are_those_of_the_dense_matrix():
    model, inputs, targets = problem()
    few = {"top": 3, "bottom": 2, "probes": 200, "tolerance": 1e-9}
    found = flatlas.measure(model, (inputs, targets), {"hessian": few, "gauss_newton": few})
    matrix = dense_hessian(deepcopy(model).eval(), inputs, targets)
    expected = torch.linalg.eigvalsh(matrix)
    taken = found["hessian"]
    np.testing.assert_allclose(taken.eigenvalues, expected.flip(0)[:3], rtol=1e-8)
    np.testing.assert_allclose(taken.lowest, expected[:2], rtol=1e-6)
    assert abs(taken.trace.value - matrix.trace().item()) < 4 * taken.trace.standard_error + 1e-12
    norm = taken.frobenius
    assert abs(norm.value - matrix.norm().item()) < 4 * norm.standard_error + 1e-12
    # Most of its eigenvalues are 0, and 0 is found twice.
    assert found["gauss_newton"].lowest == pytest.approx(0, abs=1e-9)


def test_the_call_leaves_everything_as_it_was():
    model, inputs, targets = problem()
    model.train()
    model(inputs).sum().backward()
    model[1].register_forward_hook(lambda *_: None)
    shuffled = torch.Generator().manual_seed(5)
    loader = DataLoader(TensorDataset(inputs, targets), 4, shuffle=True, generator=shuffled)

    def state():
        return (
            [p.detach().clone() for p in model.parameters()],
            [p.grad.clone() for p in model.parameters()],
            [model.training, len(model[1]._forward_hooks)],
            [torch.get_rng_state(), shuffled.get_state()],
            [np.random.get_state()[1].tolist(), random.getstate()],
        )

    before = state()
    with pytest.warns(UserWarning, match="shuffle or augment"):
        found = flatlas.measure(model, loader, ["hessian"])
    torch.testing.assert_close(state(), before, rtol=0, atol=0)
    assert len(found.notes) == 1


def test_a_note_says_that_the_test_data_shuffle():
    model, inputs, targets = problem()
    shuffled = DataLoader(TensorDataset(inputs, targets), batch_size=5, shuffle=True)
    with pytest.warns(UserWarning, match="shuffle or augment"):
        flatlas.measure(model, (inputs, targets), ["norms"], test=shuffled)


def test_the_same_seed_gives_the_same_numbers():
    model, inputs, targets = problem()
    one, same, other = (
        flatlas.measure(model, (inputs, targets), {"hessian": {"top": 1}}, seed=seed).table.value
        for seed in (1, 1, 2)
    )
    assert one.tolist() == same.tolist() != other.tolist()


@pytest.mark.parametrize(
    ("measures", "said"),
    [
        ([], "measures is empty"),
        (["hesian"], "Did you mean 'hessian'"),
        (["HESSIAN"], "Did you mean 'hessian'"),
        ({"adaptive_sharpness": {"radius": float("inf")}}, "adaptive_sharpness: radius is inf"),
        ({"spectral_density": {"width": 1e-300}}, "spectral_density: width is 1e-300"),
        ([{"hessian": {"top": 2}}], "one dictionary"),
        ({"hessian": {"top": 0}}, "hessian: top is 0"),
        ({"hessian": {"tops": 3}}, "Did you mean 'top'"),
        ({"hessian": {"probes": 0, "trace_tolerance": 0.1}}, "hessian: trace_tolerance"),
        *((odd, "hessian") for odd in (None, 5, [5], {"hessian": 5}, {"hessian": None})),
    ],
)
def test_a_mistake_is_refused_before_anything_is_computed(measures, said):
    model, _, _ = problem()
    with pytest.raises(flatlas.FlatlasError, match=said):
        flatlas.measure(model, [], measures)


OTHER, INITIAL = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 3), nn.Sigmoid(), nn.Linear(3, 3))
# A layer that the model does not use, as one for an auxiliary loss of the training.
BESIDE = deepcopy(INITIAL)
BESIDE[2].beside = nn.Linear(2, 2)
IGNORED = [(torch.rand(3, 2), torch.arange(3)), (torch.rand(1, 2), torch.tensor([-100]))]
OF_THE_MODEL = [
    ({"duality": {"layer": "0"}}, {}, "give test="),
    ({"duality": {"layer": "7"}}, {"test": True}, "layer is '7'"),
    ({"relative_flatness": {"weight": "7"}}, {}, "weight is '7'"),
    ({"gradient_noise": {}}, {}, "one batch"),
    ({"regret": {}}, {}, "batches with a label that counts: 1"),
    ({"m_sharpness": {"examples": 2}}, {}, "groups of 2 examples with a label that counts: 1"),
    ({"norms": {"initial": OTHER}}, {}, "initial has no '0.weight'"),
    ({"norms": {"path_norm": True}}, {}, "path_norm needs"),
    ({"pac_bayes": {"initial": OTHER}}, {}, "initial has no '0.weight'"),
    ({"pca_flatness": {"trajectory": [OTHER] * 3}}, {}, "point 0 .* has no '0.weight'"),
    ({"adaptive_sharpness": {"normalize_logits": True}}, {"loss": "bce"}, "normalized for BCEWith"),
    ({"m_sharpness": {"normalize_logits": True}}, {"loss": "bce"}, "can't be normalized"),
    ({"norms": {"margins": True}}, {"loss": "mse"}, "margins need class labels"),
    ({"pac_bayes": {"initial": INITIAL}}, {"loss": "mse"}, "margins need class labels"),
    ({"regret": {"damping": 1.0}}, {"loss": "mse"}, "predicted probabilities"),
    ({"duality": {"layer": "0", "sharp": 7}}, {"test": True}, "layer has 6 directions"),
    ({"relative_flatness": {}}, {"model": BESIDE}, r"does not depend on '2\.beside\.weight'"),
    ({"pac_bayes": {"initial": INITIAL}}, {"data": IGNORED}, "4 examples have 3 labels"),
    ({"learning_coefficient": {}}, {"data": [(torch.rand(1, 2), torch.ones(1).long())]}, "beta"),
    ({"learning_coefficient": {"beta": 1e17}}, {}, "Take a smaller beta"),
]


@pytest.mark.parametrize(("measures", "settings", "said"), OF_THE_MODEL)
def test_a_mistake_about_the_model_does_not_cost_the_results_of_other_measures(
    monkeypatch, measures, settings, said
):
    def computed(*_):
        raise AssertionError

    monkeypatch.setattr("flatlas.library.measures.hessian.curvature", computed)
    target = torch.eye(3) if "loss" in settings else torch.arange(3)
    # Beside a damping, the regret needs four batches.
    data = [(torch.rand(3, 2), target)] * (4 if "damping" in measures.get("regret", {}) else 1)
    given = {"model": INITIAL, "data": data, **settings}
    model, data = deepcopy(given.pop("model")), given.pop("data")
    given["test"] = data if "test" in given else None
    with pytest.raises(flatlas.FlatlasError, match=said):
        flatlas.measure(model, data, {"hessian": {}, **measures}, **given)
    with pytest.raises(flatlas.FlatlasError, match=said):
        flatlas.Tracker(model, data, measures, **given)


@pytest.mark.parametrize("name", ["hesian", 0, None])
def test_a_measure_that_was_not_taken_is_refused_by_any_name(name):
    model, images, labels = problem()
    with pytest.raises(flatlas.FlatlasError, match="Allowed: norms"):
        flatlas.measure(model, (images, labels), "norms")[name]


def test_batch_norm_statistics_are_recomputed_on_the_data_where_asked():
    model, _, loss, _ = SEVEN["ResNet with batch norm"]
    torch.manual_seed(1)
    images, labels = 3 + torch.randn(32, 1, 5, 5), torch.arange(32) % 2
    few = {"gauss_newton": {"top": 1, "probes": 2}}
    found = flatlas.measure(model, (images, labels), few, loss=loss, batch_norm="recomputed")
    # torch's own statistics over one batch, with momentum 1.
    fresh = deepcopy(model).double().train()
    fresh.norm.momentum = 1.0
    fresh(images.double())
    expected = flatlas.measure(fresh, (images, labels), few, loss=loss)
    np.testing.assert_allclose(found.table.value, expected.table.value, rtol=1e-10)
    with pytest.raises(flatlas.FlatlasError, match="no batch norm"):
        flatlas.measure(*problem()[:1], problem()[1:], few, batch_norm="recomputed")
    # A batch norm of vectors can't take a single example, nor a layer another shape.
    normed = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    x, y = torch.randn(5, 4), torch.arange(5) % 3
    for batches in ([(x[:4], y[:4]), (x[4:], y[4:])], [(x, y), (x[:, :3], y)]):
        with pytest.raises(flatlas.FlatlasError, match="batch 1: the model"):
            flatlas.measure(normed, batches, few, batch_norm="recomputed")
