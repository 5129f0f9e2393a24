"""What new users give: losses of all kinds, and mistakes, each of which gets a sentence."""

import warnings
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import partial
from threading import Lock

import numpy as np
import pytest
import torch
from seven_models import WEIGHTED, Through, batches, objective_of
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import flatlas
from flatlas.library.problem import opened
from flatlas.models.losses import BY_FUNCTION, Loss

RANDOM = torch.Generator().manual_seed(0)
X, Y = torch.randn(12, 4, generator=RANDOM), torch.arange(12) % 3
SHARES = torch.softmax(torch.randn(12, 3, generator=RANDOM), 1)
FEW = {"hessian": {"top": 1, "probes": 2}}


def net(*after, outputs=3):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, outputs), *after)


def of_torch(loss, given, target):
    """The same as torch itself finds on all examples at once."""
    return loss(given(X), target).item()


OF_TORCH = {
    "batchmean": (nn.KLDivLoss(reduction="batchmean"), net(nn.LogSoftmax(1)), SHARES),
    "KL": (nn.KLDivLoss(), net(nn.LogSoftmax(1)), SHARES),
    "multi-margin": (nn.MultiMarginLoss(), net(), Y),
    "multi-margin sum": (nn.MultiMarginLoss(reduction="sum"), net(), Y),
    "multi-label": (nn.MultiLabelSoftMarginLoss(), net(), (SHARES > 0.3).float()),
    "Huber": (nn.HuberLoss(), net(), SHARES),
    "NLL": (nn.NLLLoss(), net(nn.LogSoftmax(1)), Y),
    "shares": (nn.CrossEntropyLoss(), net(), SHARES),
    **{name: (loss, net(), Y) for name, loss in WEIGHTED.items()},
}


@pytest.mark.parametrize("function", [function for function, _ in BY_FUNCTION])
def test_a_function_of_torch_is_not_broadcast_over_its_target(function):
    """Broadcasting one output per example over a target without that dimension makes all pairs."""
    with pytest.raises(flatlas.FlatlasError, match=r"the same shape|labels|can't compare"):
        flatlas.measure(net(nn.Sigmoid(), outputs=1), (X, Y / 3), FEW, loss=function)


def test_a_function_of_torch_with_weights_of_its_own_stays_a_function():
    weights = torch.rand(12, 3, generator=torch.Generator().manual_seed(0))
    loss, model = partial(nn.functional.mse_loss, weight=weights), net()
    objective = objective_of(model, [(X, SHARES)], loss)
    assert objective.value(objective.w).item() == pytest.approx(
        of_torch(loss, model, SHARES), rel=1e-6
    )


@pytest.mark.parametrize("name", OF_TORCH)
@pytest.mark.parametrize("size", [12, 5, 1])
def test_a_loss_is_that_of_torch_however_the_data_are_cut(name, size):
    loss, model, target = OF_TORCH[name]
    cut = batches(X, target, size)
    objective = objective_of(model, cut, loss)
    assert objective.value(objective.w).item() == pytest.approx(
        of_torch(loss, model, target), rel=1e-6
    )


class Focal(nn.CrossEntropyLoss):
    """A user's loss that inherits from torch's."""

    def forward(self, output, target):
        one_by_one = nn.functional.cross_entropy(output, target, reduction="none")
        return ((1 - (-one_by_one).exp()) ** 2 * one_by_one).mean()


class Same(nn.CrossEntropyLoss):
    """torch's under another name."""


class Summed(nn.Module):
    def __init__(self, reduction="sum"):
        super().__init__()
        self.reduction = reduction

    def forward(self, output, target):
        return (output - target).square().sum()


def squares(output, target, reduction):
    return getattr((output - target).square(), reduction)()


PADDED = Y.where(torch.arange(12) > 3, -100)
OF_ONES_OWN = {
    "focal": (Focal(), Y),
    "focal over none": (Focal(reduction="none"), Y),
    "inherited": (Same(ignore_index=1), Y),
    "a module's sum": (Summed(), SHARES),
    "a partial sum": (partial(squares, reduction="sum"), SHARES),
    "a partial mean": (partial(squares, reduction="mean"), SHARES),
    "torch's function": (nn.functional.cross_entropy, PADDED),
    "torch's partial function": (
        partial(nn.functional.cross_entropy, reduction="sum", ignore_index=2),
        Y,
    ),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", OF_ONES_OWN)
def test_a_loss_says_itself_whether_it_is_a_mean_or_a_sum(name):
    loss, target = OF_ONES_OWN[name]
    cut = batches(X, target, 5)
    with opened(net(), cut, None, {"loss": loss}) as problem:
        found = problem.training.value(problem.training.w).item()
    assert found == pytest.approx(of_torch(loss, net(), target), rel=1e-6)


class Losing(nn.Module):
    """Returns its own loss of a batch: a mean over the labels that count, or over examples."""

    def __init__(self, reduction):
        super().__init__()
        self.net, self.reduction = net(), reduction

    def forward(self, x, target):
        return nn.functional.cross_entropy(self.net(x), target, reduction=self.reduction).mean()


def test_a_model_that_returns_a_loss_which_depends_on_the_cuts_gets_a_note():
    data = [((X, PADDED), PADDED)]
    with pytest.warns(UserWarning, match="halves"):
        flatlas.measure(Losing("mean"), data, ["norms"], loss=lambda output, _: output)
    assert not flatlas.measure(Losing("none"), data, ["norms"], loss=lambda output, _: output).notes


def test_a_loss_that_depends_on_the_cuts_gets_a_note():
    def mean(output, target):
        return nn.functional.cross_entropy(output, target)

    def total(output, target):
        return nn.functional.cross_entropy(output, target, reduction="sum")

    for loss, target in ((mean, PADDED), (total, Y), (Summed("mean"), SHARES)):
        with pytest.warns(UserWarning, match="halves") as seen:
            found = flatlas.measure(net(), [(X, target)], ["norms"], loss=loss)
        (note,) = found.notes
        assert [str(one.message) for one in seen] == [note]


def by_batch(x):
    """Normalizes by the numbers of a batch, without a layer for it."""
    return nn.functional.batch_norm(x, None, None, training=True)


@pytest.mark.parametrize("norm", [nn.BatchNorm1d(3, track_running_stats=False), Through(by_batch)])
def test_a_model_that_mixes_examples_gets_a_note(norm):
    with pytest.warns(UserWarning, match="other examples of its batch"):
        found = flatlas.measure(net(norm), (X, Y), FEW)
    assert len(found.notes) == 1
    # Other sizes of a batch give other numbers.
    with pytest.warns(UserWarning, match="other examples of its batch"):
        cut = flatlas.measure(net(norm), [(X[:6], Y[:6]), (X[6:], Y[6:])], FEW)
    assert cut["hessian"].eigenvalues != pytest.approx(found["hessian"].eigenvalues, rel=1e-3)


def test_a_norm_that_the_model_does_not_use_gets_no_note():
    model = net()
    model[1].unused = nn.BatchNorm1d(3, track_running_stats=False).requires_grad_(False)
    assert not flatlas.measure(model, (X, Y), FEW).notes


def test_there_must_be_statistics_to_recompute():
    norm = nn.BatchNorm1d(3, track_running_stats=False)
    with pytest.raises(flatlas.FlatlasError, match="running statistics"):
        flatlas.measure(net(norm), (X, Y), FEW, batch_norm="recomputed")


def test_recomputed_statistics_are_those_of_the_examples():
    """They are not the means over batches, whose sizes may differ."""
    model = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 3))
    unequal = [(X[:10], Y[:10]), (X[10:], Y[10:])]
    with opened(model, unequal, None, {"batch_norm": "recomputed"}) as problem:
        mean = problem.training.model[0].running_mean
    torch.testing.assert_close(mean, X.double().mean(0))
    twice = nn.Sequential(model[0], Through(lambda x: x + 1), model[0], model[1])
    with opened(twice, [(X, Y)], None, {"batch_norm": "recomputed"}) as problem:
        mean = problem.training.model[0].running_mean
    # In training the layer's second input has the mean 1.
    torch.testing.assert_close(mean, (X.double().mean(0) + 1) / 2)


class Distillation(nn.Module):
    """It compares with a teacher whose weights follow from others."""

    def __init__(self):
        super().__init__()
        self.teacher = nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 3))
        self.scale = torch.ones(3, requires_grad=True).exp()

    def forward(self, output, target):
        return (self.teacher(output * self.scale) - target).square().mean()


def test_a_teacher_in_the_loss_is_in_evaluation_mode_and_stays_as_it_was():
    loss = Distillation()
    first, second = (
        flatlas.measure(net(), (X, SHARES), FEW, loss=loss, seed=seed).table.value[0]
        for seed in (1, 2)
    )
    assert first == pytest.approx(second, rel=1e-5)
    assert loss.training
    assert loss.teacher.training


def test_weights_of_labels_may_be_computed():
    w = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    found, expected = (
        flatlas.measure(net(), (X, Y), FEW, loss=nn.CrossEntropyLoss(weight=one)).table.value
        for one in (w.exp(), w.detach().exp())
    )
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("loss", [nn.CrossEntropyLoss, nn.NLLLoss])
def test_labels_may_be_bytes(loss):
    """torch would take an index of bytes for a mask, and −100 for the byte 156."""
    loss = loss(weight=torch.rand(200, generator=torch.Generator().manual_seed(0)))
    outputs = torch.randn(200, 200, generator=torch.Generator().manual_seed(0)).log_softmax(1)
    labels = torch.arange(200) // 2 + 100
    found = [Loss(loss).of(outputs, target, 200) for target in (labels, labels.byte())]
    assert found[0] == found[1]
    assert found[0][0] / found[0][1] == pytest.approx(loss(outputs, labels).item(), rel=1e-6)
    assert Loss(loss).is_class(labels.byte()).all()


@pytest.mark.parametrize(
    ("labels", "known"),
    [([0, 2, -100], True), ([0, 3, 1], False), ([0, -1, 1], False), ([-100], True)],
)
def test_labels_are_checked_before_a_kernel_asserts_them(labels, known):
    """After a failed assertion a GPU computes nothing more."""
    loss, target = Loss("cross_entropy"), torch.tensor(labels)
    outputs = torch.zeros(len(labels), 3)
    if known:
        loss.refuse_unknown(outputs, target)
    else:
        with pytest.raises(flatlas.FlatlasError, match="labels"):
            loss.refuse_unknown(outputs, target)


def test_binary_labels_may_be_whole_numbers():
    given = (Y > 0)[:, None]
    expected = flatlas.measure(net(outputs=1), (X, given.float()), FEW, loss="bce").table
    for target in (given, given.long()):
        found = flatlas.measure(net(outputs=1), (X, target), FEW, loss="bce").table
        assert found.value.tolist() == expected.value.tolist()


def power(exponent):
    """Its slope at 0 is infinite below an exponent of one, its second derivative below two."""
    return Through(lambda x: (x - x.detach()).abs().pow(exponent))


def from_one(output, target):
    target -= 1
    return nn.functional.cross_entropy(output, target)


def test_a_loss_may_change_its_target_in_place():
    target = Y + 1
    found = flatlas.measure(net(), (X, target), FEW, loss=from_one)
    expected = flatlas.measure(net(), (X, Y), FEW)
    assert found.table.value.tolist() == pytest.approx(expected.table.value.tolist())
    assert target.equal(Y + 1)


def summed(x):
    """torch has no second derivative of it."""
    return torch.segment_reduce(x, "sum", lengths=torch.ones(len(x), dtype=torch.long))


def with_tokens(x):
    """The classes are the last dimension, not the second."""
    return x.unsqueeze(1)


class Named(nn.Linear):
    """Its output is in a dictionary."""

    def __init__(self):
        super().__init__(4, 3)

    def forward(self, x):
        return {"scores": super().forward(x)}


class Casting(nn.Linear):
    """It is trained in half precision, and says so at each pass."""

    def __init__(self):
        super().__init__(4, 3, dtype=torch.bfloat16)

    def forward(self, x):
        return super().forward(x.bfloat16())


class Forces(nn.Module):
    """Takes a gradient in its forward pass, but does not switch gradients on for it."""

    def __init__(self):
        super().__init__()
        self.energy = net()

    def forward(self, x):
        x = x.requires_grad_()
        return torch.autograd.grad(self.energy(x).sum(), x, create_graph=True)[0]


def broken_statistics():
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    model[1].running_mean[0] = torch.nan
    return model


def frozen_and_broken():
    model = net()
    model[0].weight.requires_grad_(False)[0, 0] = torch.inf
    return model


def shared():
    """Two weights that are one in memory, but not for torch."""
    first, second = nn.Linear(3, 3), nn.Linear(3, 3)
    second.weight.data = first.weight.data
    return first, second


def uninitialized():
    model = net()
    model.norm = nn.LazyBatchNorm1d(affine=False)
    return model


class Teacher(nn.Linear):
    """A layer that a copy of its model shares."""

    def __deepcopy__(self, memo):
        return self


class Half(nn.Linear):
    """A copy has the same weights."""

    def __deepcopy__(self, memo):
        return copy(self)


class FrozenNorm(nn.Sequential):
    """Its batch norm stays in evaluation mode, and `train` returns nothing."""

    def train(self, mode=True):
        super().train(mode)
        self[-1].eval()


def test_a_train_that_returns_nothing_is_enough():
    norm = nn.BatchNorm1d(3)
    expected = flatlas.measure(net(norm), (X, Y), FEW).table.value
    assert flatlas.measure(FrozenNorm(*net(norm)), (X, Y), FEW).table.value.equals(expected)


def weighted_in_float32(output, target):
    return nn.functional.cross_entropy(output, target, weight=torch.ones(3, dtype=torch.float32))


def uncopied():
    model = net()
    model.lock = Lock()
    return model


@pytest.mark.parametrize(
    ("model", "data", "settings", "said"),
    [
        (net(), [(X.numpy(), Y.numpy())], {}, r"batch 0 has a numpy array of shape \(12, 4\)"),
        (net(), (X.numpy(), Y.numpy()), {}, "numpy|ndarray"),
        (Casting(), (X, Y), {"dtype": torch.float32}, r"dtype torch\.float32.*of its weights"),
        (net(), (X.byte(), Y), {}, r"batch 0: the model can't take its inputs, torch.uint8"),
        (net(), [(X, Y), (X[:, :3], Y)], {}, r"batch 1: the model can't take.*\(12, 3\)"),
        (net(), [(X, Y), (X, Y + 1)], {}, "batch 1: .*labels from 1 to 3"),
        (net(), (X, Y.to(torch.uint16)), {}, r"batch 0: the loss can't compare.*torch\.uint16"),
        (net(), (X, Y), {"loss": weighted_in_float32}, r"weight\.to\(output\.dtype\)"),
        (net(), (X, Y * 0 - 100), {}, "ignores the labels of all"),
        (net(Through(lambda x: x * torch.nan)), (X, Y), {}, "batch 0: the loss is nan"),
        (net(power(1.5)), (X, Y), {}, "the Hessian has NaN"),
        (net(Through(summed)), (X, Y), {}, "second derivative.*_segment_reduce_backward"),
        (broken_statistics(), (X, Y), {}, r"'1\.running_mean' has NaN"),
        (frozen_and_broken(), (X, Y), {}, r"'0\.weight' has NaN or infinite weights"),
        (uninitialized(), (X, Y), {}, r"'norm\.running_mean' has no shape yet: pass one batch"),
        (uncopied(), (X, Y), {}, "the model can't be copied"),
        (net(Teacher(3, 3)), (X, Y), {}, "copy of the model has the same Teacher"),
        (net(Half(3, 3)), (X, Y), {}, "copy of the model has the same Parameter"),
        (net(), [*zip(X, SHARES, strict=True)], {"loss": "mse"}, "batch 0 .*a single example"),
        (net(nn.Flatten(0), outputs=1), (X, SHARES[:, 0]), {}, "labels as integers.*loss='bce'"),
        ({}, (X, Y), {}, "the model is a dict"),
        (net(), (X, Y), {"loss": nn.CrossEntropyLoss}, "the class CrossEntropyLoss"),
        (net(), (X, Y), {"loss": nn.CrossEntropyLoss(reduction="none")}, "reduction 'none'"),
        (
            net(),
            (X, SHARES[:, 0]),
            {"loss": nn.GaussianNLLLoss()},
            r"takes input, target, var.*loss\(output\[0\], target, output\[1\]\)",
        ),
        (net(), (X, Y), {"loss": nn.CTCLoss()}, "takes log_probs, targets, input_lengths.*lambda"),
        (Named(), (X, Y), {}, r"output is a dict.*loss\(output\['scores'\], target\)"),
        (
            net(Through(with_tokens)),
            (X, Y[:, None] * 0 + 3),
            {},
            r"second dimension of \(12, 1, 3\)",
        ),
        (Forces(), (X, X), {"loss": "mse"}, r"torch\.enable_grad"),
        (net(), (X, [1]), {}, "batch 0|a tuple"),
        (net().to("meta"), (X, Y), {}, r"'0\.weight' is on the device meta.*load"),
        (net(), (X.to("meta"), Y), {}, "batch 0 .*meta.*Allowed"),
        (net(), (X, Y), {"device": "meta"}, "device is 'meta'"),
        (net(), [(torch.nested.nested_tensor([*X.split(6)]), Y)], {}, "batch 0 .*nested.*dense"),
        (net(), [(X.long(), Y)], {}, r"int64 of shape.*integers stay so.*\.float\(\)"),
        (net(*shared()), (X, Y), {}, "'3.weight' and '4.weight' share their numbers"),
        (net(), (X, Y), {"los": "mse"}, "Did you mean 'loss'"),
        (net(), (X, Y), {"batch_norm": "recompute"}, "Did you mean 'recomputed'"),
        (net(), (X, Y), {"seed": -1}, "seed is -1"),
        (net(), (X, Y), {"seed": "a"}, "seed is 'a'"),
        (net(), (X, Y), {"dtype": torch.float16}, "torch.float64, torch.float32"),
        (net(), (X, Y), {"dtype": "float32"}, "torch.float64, torch.float32"),
        (net(), (X, Y), {"device": "gpu"}, "device is 'gpu'"),
        (net(), (X, Y), {"parameters": 3}, "parameters is a int"),
        (net(), (X, Y), {"parameters": lambda name: True}, "'0.weight'.*function of name and para"),
        (net(), (X, Y), {"loss": lambda *_: 0.5}, "returns a float. Allowed: a tensor"),
        (net(), (X, Y), {"loss": lambda output, _: output.detach().sum()}, "loss.*detach"),
        (net(), (X, Y), {"parameters": [nn.Parameter(X)]}, "parameters is a list"),
    ],
)
def test_a_mistake_gets_a_sentence(model, data, settings, said):
    with pytest.raises(flatlas.FlatlasError, match=said):
        flatlas.measure(model, data, FEW, **settings)


def test_a_tracker_shows_each_note_once_and_where_it_is_made():
    """This holds if the weights change, too, and if a note has brackets, as that on the loss."""
    data, model = DataLoader(TensorDataset(X, SHARES), 4, shuffle=True), net()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        tracker = flatlas.Tracker(model, data, FEW, loss=Summed("mean"))
        for step in range(2):
            nn.init.normal_(model[0].weight)
            tracker(step)
    shuffle, cuts = seen
    assert "shuffle" in str(shuffle.message)
    assert "halves" in str(cuts.message)
    assert shuffle.filename == cuts.filename == __file__


class Penalized(nn.Module):
    """A loss with a penalty of a model's parameters, if it has one, and a parameter of its own."""

    def __init__(self, model=None):
        super().__init__()
        self.model, self.scale = model, nn.Parameter(torch.ones(()))

    def forward(self, output, target):
        loss = self.scale * nn.functional.cross_entropy(output, target)
        return loss if self.model is None else loss + penalty(self.model)


class PenalizedList(Penalized):
    """It keeps the model in a list, where a module does not look."""

    def __init__(self, model):
        super().__init__()
        self.kept = [model]

    def forward(self, output, target):
        return super().forward(output, target) + penalty(self.kept[0])


def penalty(model):
    return sum(one.square().sum() for one in model.parameters())


def test_a_loss_has_no_penalty_of_the_model_itself():
    """The penalty would be that of the original model, which is not measured: a constant."""
    model, own = net(), Penalized()
    losses = (
        Penalized(model),
        PenalizedList(model),
        lambda output, target: own(output, target) + penalty(model),
    )
    for loss in losses:
        with pytest.raises(flatlas.FlatlasError, match="the model's own parameters"):
            flatlas.measure(model, (X, Y), FEW, loss=loss)
    expected = flatlas.measure(model, (X, Y), FEW).table.value.tolist()
    for loss in (own, lambda output, target: own(output, target)):
        found = flatlas.measure(model, (X, Y), FEW, loss=loss).table.value.tolist()
        assert found == pytest.approx(expected, rel=1e-9)


def test_a_model_that_draws_random_numbers_is_refused():
    """The numbers are those of dropout that stays on in evaluation mode."""
    with pytest.raises(flatlas.FlatlasError, match="computed again"):
        flatlas.measure(net(Through(nn.functional.dropout)), (X, Y), FEW)


INFINITE = X.where(torch.arange(48).view(12, 4) > 0, torch.inf)
# Four batches, of which the first has an infinite number.
WITH_INFINITE = batches(INFINITE, Y, 3)


def test_infinite_inputs_are_named():
    """Their loss may be finite, as behind a sigmoid, but it has no gradient."""
    model = nn.Sequential(nn.Linear(4, 3), nn.Sigmoid(), nn.Linear(3, 3))
    for measure in (
        "hessian",
        "adaptive_sharpness",
        "box_sharpness",
        "learning_coefficient",
        "regret",
    ):
        with pytest.raises(flatlas.FlatlasError, match="infinite numbers in the data"):
            flatlas.measure(model, WITH_INFINITE, [measure])
    with pytest.raises(flatlas.FlatlasError, match=r"batch 0: the loss is nan.*infinite numbers"):
        flatlas.measure(net(), WITH_INFINITE, FEW)


@pytest.mark.parametrize("measure", ["adaptive_sharpness", "m_sharpness", "gradient_noise"])
def test_an_infinite_slope_is_refused(measure):
    with pytest.raises(flatlas.FlatlasError, match="the gradient has NaN or infinite entries"):
        flatlas.measure(net(power(0.5)), 2 * [(X, Y)], [measure])


class Graph(nn.Module):
    """Examples are mixed by a sparse matrix."""

    def __init__(self, layout):
        super().__init__()
        self.register_buffer("neighbours", torch.eye(12).roll(1, 0).to_sparse(layout=layout))
        self.inner = net()

    def forward(self, x):
        return self.neighbours @ self.inner(x)


@pytest.mark.filterwarnings("ignore:Sparse|The model's output")
@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_a_buffer_may_be_sparse(layout):
    found = flatlas.measure(Graph(layout), (X, Y.roll(1)), FEW)["hessian"].eigenvalues
    assert found == pytest.approx(flatlas.measure(net(), (X, Y), FEW)["hessian"].eigenvalues)
    broken = Graph(layout)
    broken.neighbours = broken.neighbours * torch.nan
    with pytest.raises(flatlas.FlatlasError, match="'neighbours' has NaN"):
        flatlas.measure(broken, (X, Y), FEW)


class GraphOfParameter(Graph):
    """The matrix is a frozen parameter."""

    def __init__(self, layout):
        super().__init__(layout)
        self.neighbours = nn.Parameter(self._buffers.pop("neighbours"), requires_grad=False)


@pytest.mark.filterwarnings("ignore:Sparse|The model's output")
def test_a_sparse_parameter_may_be_frozen():
    model = GraphOfParameter(torch.sparse_coo)
    found = flatlas.measure(model, (X, Y.roll(1)), FEW)["hessian"].eigenvalues
    assert found == pytest.approx(flatlas.measure(net(), (X, Y), FEW)["hessian"].eigenvalues)
    with pytest.raises(flatlas.FlatlasError, match=r"'neighbours' is .*sparse.*leave it out"):
        flatlas.measure(model, (X, Y), FEW, parameters="*")
    with pytest.raises(flatlas.FlatlasError, match=r"'neighbours' has the layout .*sparse_csr"):
        flatlas.measure(GraphOfParameter(torch.sparse_csr), (X, Y), FEW)


class Masked(nn.Module):
    """With an infinite buffer, as attention has it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.full((3, 3), -torch.inf).triu(1))

    def forward(self, x):
        return torch.softmax(x[:, :, None] + self.mask, 2).cumsum(1)[:, :, 0]


def test_a_buffer_may_be_infinite():
    assert flatlas.measure(net(Masked()), (X, Y), FEW)["hessian"].converged


@pytest.mark.parametrize("measure", ["hessian", "gauss_newton", "adaptive_sharpness"])
def test_parameters_that_do_not_reach_the_loss_are_refused(measure):
    for one, chosen in ((Aside(), "unused.*"), (net(Through(torch.detach)), None)):
        with pytest.raises(flatlas.FlatlasError, match="no chosen parameter reaches the loss"):
            flatlas.measure(one, (X, Y), [measure], parameters=chosen)


class Aside(nn.Module):
    """With a layer that is not used."""

    def __init__(self):
        super().__init__()
        self.net, self.unused = net(), nn.Linear(2, 2)

    def forward(self, x):
        return self.net(x)


class Merging(nn.Module):
    """It adds a low rank to its weight in evaluation mode, as in a fine-tuned language model."""

    def __init__(self):
        super().__init__()
        self.inner = net()
        self.left, self.right = nn.Parameter(torch.ones(3, 1)), nn.Parameter(torch.ones(1, 3))

    def forward(self, x):
        low = self.left @ self.right
        return self.inner(x) @ (low if self.training else low.detach())


@pytest.mark.parametrize(("make", "names"), [(Merging, "left, right"), (Aside, "unused.weight")])
def test_chosen_parameters_that_the_loss_does_not_use_get_a_note(make, names):
    with pytest.warns(UserWarning, match=f"chosen parameters {names}"):
        # Where it is detach that hides them, the second derivative gets a note, too.
        note, *_ = flatlas.measure(make(), (X, Y), FEW).notes
    assert names in note
    assert not flatlas.measure(make(), (X, Y), FEW, parameters="*0.*").notes


def test_a_measure_may_be_taken_in_inference_mode():
    expected = flatlas.measure(net(), (X, Y), FEW).table.value.tolist()
    with torch.inference_mode():
        assert flatlas.measure(net(), (X, Y), FEW).table.value.tolist() == expected
        assert torch.is_inference_mode_enabled()


def test_a_model_that_was_made_and_frozen_in_inference_mode_is_measured():
    with torch.inference_mode():
        model = net().requires_grad_(False)
    found = flatlas.measure(model, (X, Y), FEW, parameters="*").table
    expected = flatlas.measure(net(), (X, Y), FEW).table
    assert found.value.tolist() == expected.value.tolist()


def test_modules_that_wrap_or_keep_what_they_computed_are_measured():
    expected = flatlas.measure(net(), (X, Y), FEW).table.value.tolist()
    keeping = net()
    keeping.last = keeping(X)
    compiled = torch.compile(net(), backend="eager")
    both = torch.compile(nn.DataParallel(net()), backend="eager")
    for model in (nn.DataParallel(net()), compiled, both, keeping):
        assert flatlas.measure(model, (X, Y), FEW).table.value.tolist() == expected


class FromZero(nn.Module):
    """A recurrent layer whose first state is made in each pass."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.inner, self.outer = nn.GRU(2, 4, batch_first=True), nn.Linear(4, 3)

    def forward(self, x):
        x = x.view(len(x), 2, 2)
        return self.outer(self.inner(x, torch.zeros(1, len(x), 4))[0][:, -1])


def test_numbers_that_a_model_makes_have_the_dtype_of_the_call():
    before = torch.get_default_dtype()
    double, single = (
        flatlas.measure(FromZero(), (X, Y), FEW, dtype=dtype)["hessian"].eigenvalues
        for dtype in (torch.float64, torch.float32)
    )
    np.testing.assert_allclose(double, single, rtol=1e-3)
    with pytest.raises(flatlas.FlatlasError):
        flatlas.measure(FromZero(), (X[:, :3], Y), FEW)
    assert torch.get_default_dtype() is before


def test_a_model_in_half_precision_is_measured_in_float64():
    half = net().half()
    exact = deepcopy(half).double()
    found, expected = (flatlas.measure(one, (X, Y), FEW).table.value for one in (half, exact))
    assert found.tolist() == expected.tolist()


class Head(nn.Module):
    """It keeps a function that refers to a layer of this very module."""

    def __init__(self):
        super().__init__()
        self.body, self.last = net(), nn.Linear(3, 3)
        self.act = lambda seen: self.last(seen)

    def forward(self, x):
        return self.act(self.body(x))


@dataclass
class Answer:
    """Outputs that torch can't look into."""

    scores: torch.Tensor


class Answering(Head):
    """Its own loss takes them out."""

    def forward(self, x):
        return Answer(self.act(self.body(x)))


def of_answer(answer, target):
    return nn.functional.cross_entropy(answer.scores, target)


def hooked():
    model = net()
    model[0].register_forward_hook(lambda layer, given, seen: seen * model[2].weight.norm())
    return model


def test_hooks_on_gradients_do_not_count():
    """They belong to the training, as clipping does."""
    model, seen = net(), []

    def vanish(layer, inner, outer):
        seen.append(layer)
        return tuple(torch.zeros_like(one) for one in inner if one is not None)

    model[2].register_full_backward_hook(vanish)
    model[2].register_full_backward_pre_hook(lambda layer, outer: None)
    found, expected = (flatlas.measure(one, (X, Y), FEW).table.value for one in (model, net()))
    assert found.tolist() == expected.tolist()
    assert not seen
    model(X).sum().backward()
    assert seen == [model[2]]


def test_attention_at_a_minimum_of_zero_loss_is_measured():
    """Kernels of attention differ in the last bits, which are all that is left of such a loss."""
    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).double().eval()
    given = torch.randn(6, 3, 4, dtype=torch.float64)
    target = model(given).detach()
    found = flatlas.measure(model, (given, target), ["norms"], loss="mse")
    assert found.table.value.notna().all()


@pytest.mark.parametrize(
    ("make", "loss"),
    [(Head, "cross_entropy"), (hooked, "cross_entropy"), (Answering, of_answer)],
)
def test_parameters_that_a_copy_does_not_have_are_refused(make, loss):
    """Its output would not change with the copy's weights, and every number would be wrong."""
    with pytest.raises(flatlas.FlatlasError, match="a lambda, a hook"):
        flatlas.measure(make().double(), (X, Y), measures=FEW, loss=loss)
    frozen = make().double().requires_grad_(False)
    with pytest.raises(flatlas.FlatlasError, match="a lambda, a hook"):
        flatlas.measure(frozen, (X, Y), measures=FEW, parameters="*", loss=loss)
    assert not any(one.requires_grad for one in frozen.parameters())


class Tied(nn.Module):
    """Both layers have one weight, which the second finds where a module does not look."""

    def __init__(self, keep):
        super().__init__()
        self.first, self.last = nn.Linear(4, 4, bias=False), nn.Linear(4, 3)
        self.kept = keep(self.first.weight)

    def forward(self, x):
        weight = self.kept.keywords["weight"] if isinstance(self.kept, partial) else self.kept[0]
        return self.last(nn.functional.linear(torch.tanh(self.first(x)), weight))


@pytest.mark.parametrize("keep", [lambda one: [one], lambda one: partial(len, weight=one)])
@pytest.mark.parametrize("frozen", [False, True])
def test_a_parameter_that_is_also_used_from_a_list_is_refused(keep, frozen):
    """The reference in the list would keep its values while w changes."""
    model = Tied(keep).requires_grad_(not frozen)
    with pytest.raises(flatlas.FlatlasError, match=r"'first\.weight'"):
        flatlas.measure(model, (X, Y), FEW, parameters="first*")
    flatlas.measure(model, (X, Y), FEW, parameters="last*")


def test_a_parameter_from_a_list_may_give_an_output_that_the_loss_ignores():
    class Reporting(Tied):
        def forward(self, x):
            return self.last(self.first(x)), self.kept[0].square().sum()

    model = Reporting(lambda one: [one])
    plain = nn.Sequential(model.first, model.last)
    found, expected = (
        flatlas.measure(one, (X, Y), FEW, loss=loss).table.value
        for one, loss in (
            (model, lambda output, target: nn.functional.cross_entropy(output[0], target)),
            (plain, "cross_entropy"),
        )
    )
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-9)
