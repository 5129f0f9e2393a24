"""Models whose numbers are not those of their loss: wrong gradients, memory, rounding, devices."""

import warnings

import pytest
import torch
from seven_models import Through
from torch import nn
from torch.nn.utils import prune

import flatlas
from flatlas.library.call import MEASURES
from flatlas.library.problem import opened

RANDOM = torch.Generator().manual_seed(0)
X, Y = torch.randn(12, 4, generator=RANDOM), torch.arange(12) % 3
DATA = [(X[i : i + 3], Y[i : i + 3]) for i in range(0, 12, 3)]
DTYPES = [torch.float32, torch.float64]


def net(*between):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), *between, nn.Linear(6, 3))


class Sign(torch.autograd.Function):
    """A straight-through estimator."""

    @staticmethod
    def forward(ctx, x):
        return x.sign()

    @staticmethod
    def backward(ctx, slope):
        return slope


class Doubled(Sign):
    """A backward that is wrong by a factor."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, slope):
        return 2 * slope


def rounded(x):
    return x + (x.round() - x).detach()


def hard(x):
    """The largest alone, with the gradient of a softmax."""
    soft = x.softmax(1)
    return nn.functional.one_hot(soft.argmax(1), x.shape[1]) - soft.detach() + soft


def in_float32(x):
    return x.float().tanh().to(x.dtype)


WRONG = {"sign": Sign.apply, "doubled": Doubled.apply, "rounded": rounded, "hard": hard}


def notes_of(model, dtype=torch.float64, loss="cross_entropy", y=Y, x=X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with opened(model, (x, y), None, {"dtype": dtype, "loss": loss}) as problem:
            return problem.notes


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", WRONG.values(), ids=WRONG)
def test_a_gradient_that_is_not_that_of_the_loss_gets_a_note(function, dtype):
    (note,) = notes_of(net(Through(function)), dtype)
    assert "straight-through" in note


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [0.0, 1e-4, 1.0, 30.0])
@pytest.mark.parametrize(
    "between", [nn.ReLU(), nn.Hardtanh(), nn.LayerNorm(6), Through(torch.abs), Through(in_float32)]
)
def test_a_right_gradient_gets_no_note(between, scale, dtype):
    """Also at kinks, with weights of 0, and with parts in float32."""
    model = net(between)
    with torch.no_grad():
        for one in model.parameters():
            one *= scale
    assert not notes_of(model, dtype)
    assert not notes_of(model, dtype, "mse", X[:, :3])


class Bump(torch.autograd.Function):
    """x exp(−x²), whose backward takes the exponential for a constant."""

    @staticmethod
    def forward(ctx, x):
        height = (-x.square()).exp()
        ctx.save_for_backward(x, height)
        return x * height

    @staticmethod
    def backward(ctx, slope):
        x, height = ctx.saved_tensors
        return slope * height * (1 - 2 * x.square())


class Tanh(torch.autograd.Function):
    """Right: an attribute that is the output has the output's graph."""

    @staticmethod
    def forward(ctx, x):
        ctx.y = x.tanh()
        return ctx.y

    @staticmethod
    def backward(ctx, slope):
        return slope * (1 - ctx.y.square())


def test_a_second_derivative_that_is_not_that_of_the_gradient_gets_a_note():
    (note,) = notes_of(net(Through(Bump.apply)))
    assert "second derivative" in note
    right = net(Through(Tanh.apply))
    assert not notes_of(right)
    found, plain = (flatlas.measure(one, DATA, ["hessian"]) for one in (right, net(nn.Tanh())))
    assert found["hessian"].eigenvalues == pytest.approx(plain["hessian"].eigenvalues)


def test_a_fitted_model_gets_no_note():
    """At the minimum the gradient is only round-off."""
    model, y = nn.Linear(4, 3), X @ torch.ones(4, 3)
    with torch.no_grad():
        model.weight.fill_(1.0)
        model.bias.zero_()
    for dtype in DTYPES:
        assert not notes_of(model, dtype, "mse", y)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [8.0, 20.0])
@pytest.mark.parametrize("last", [nn.Identity(), nn.LogSoftmax(1)])
def test_a_confident_classifier_gets_no_note(last, scale, dtype):
    """Its loss is rounded to 0, but its gradient is not."""
    model, hot = nn.Sequential(nn.Linear(4, 3), last), torch.eye(3, 4)
    with torch.no_grad():
        model[0].weight.copy_(scale * hot)
        model[0].bias.zero_()
    assert not notes_of(model, dtype, x=3 * hot[Y] + 0.1 * X)


class Large(Tanh):
    """Its second derivative does not fit into the memory."""

    @staticmethod
    def backward(ctx, slope):
        if torch.is_grad_enabled():
            raise torch.OutOfMemoryError("out of memory")
        return slope * (1 - ctx.y.square())


def test_a_second_derivative_without_memory_stops_only_measures_that_need_one():
    model = net(Through(Large.apply))
    assert not flatlas.measure(model, DATA, ["norms", "adaptive_sharpness"]).notes
    with pytest.raises(flatlas.FlatlasError, match="more memory"):
        flatlas.measure(model, DATA, ["hessian"])


@pytest.mark.parametrize("gap", [20.0, 26.0, 32.0])
def test_a_gradient_that_is_a_rounded_difference_gets_no_note(gap):
    """The gradient of a confident classifier moves in steps: the round-off of numbers near 1."""
    torch.manual_seed(0)
    model, x = nn.Linear(4, 3), X[:1]
    largest, second, _ = model(x)[0].detach().sort(descending=True).values
    with torch.no_grad():
        for one in model.parameters():
            one *= gap / (largest - second)
    assert not notes_of(model, y=model(x).argmax(1), x=x)


class Keeping(nn.Module):
    """It keeps a number that its first pass computes, by a rule."""

    def __init__(self, rule):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.rule, self.kept = nn.Linear(4, 3), rule, None

    def forward(self, x):
        if self.kept is None:
            self.kept = self.rule(self.layer.weight, x)
        return self.kept * self.layer(x)


class Counting(nn.Module):
    """Another model after so many calls; the number is in a buffer, or not."""

    def __init__(self, calls, buffer):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.calls = nn.Linear(4, 3), calls
        if buffer:
            self.register_buffer("seen", torch.zeros(()))
        else:
            self.seen = 0

    def forward(self, x):
        self.seen += 1
        return self.layer(x) * (2.0 if self.seen > self.calls else 1.0)


KEPT = {
    "number": lambda weight, x: weight.norm().item(),
    "tensor": lambda weight, x: weight.detach().norm(),
    "graph": lambda weight, x: weight.norm(),
}


@pytest.mark.parametrize("rule", KEPT.values(), ids=KEPT)
def test_numbers_kept_from_the_first_pass_are_refused(rule):
    said = "keeps numbers that its first pass computed"
    with pytest.raises(flatlas.FlatlasError, match=said):
        flatlas.measure(Keeping(rule), DATA, ["norms"])
    # Also if statistics of batch norm are recomputed, in passes of their own.
    normed = nn.Sequential(nn.BatchNorm1d(4), Keeping(rule))
    with pytest.raises(flatlas.FlatlasError, match=said):
        flatlas.measure(normed, DATA, ["norms"], batch_norm="recomputed")


def test_a_model_without_memory_is_measured_with_recomputed_batch_norm():
    model = net(nn.BatchNorm1d(6))
    assert not flatlas.measure(model, DATA, ["norms"], batch_norm="recomputed").notes


def test_what_is_kept_but_not_of_the_weights_is_measured():
    model = Keeping(lambda weight, x: torch.full((), x.shape[1] / 2.0, dtype=x.dtype))
    found = flatlas.measure(model, DATA, ["hessian"])["hessian"]
    assert found.eigenvalues[0] > 0
    assert model.kept is None


@pytest.mark.parametrize("buffer", [True, False])
@pytest.mark.parametrize("calls", [1, 2])
def test_a_model_that_changes_at_the_beginning_is_refused(calls, buffer):
    with pytest.raises(flatlas.FlatlasError, match=r"computed again|counts its"):
        flatlas.measure(Counting(calls, buffer), DATA, ["norms"])


@pytest.mark.filterwarnings("ignore:The gradient is not that")
@pytest.mark.parametrize("buffer", [True, False])
@pytest.mark.parametrize("calls", [4, 8, 12, 40])
def test_numbers_of_a_model_that_changes_on_the_way_get_a_note(calls, buffer):
    few = {"adaptive_sharpness": {"pairs": 20, "starts": 1}}
    with pytest.warns(UserWarning, match="changes during the measures"):
        found = flatlas.measure(Counting(calls, buffer), DATA, few)
    assert "changes during the measures" in found.notes[-1]
    assert not flatlas.measure(Counting(0, buffer), DATA, few).notes


def test_the_first_batch_with_labels_decides():
    """The loss of others is 0 whatever the model does."""
    ignored = [(X, torch.full_like(Y, -100)), (X, Y)]
    with pytest.raises(flatlas.FlatlasError, match="keeps numbers that its first pass computed"):
        flatlas.measure(Keeping(KEPT["number"]), ignored, ["norms"])


def whole(x):
    """Part of a model, which takes batches of only one size."""
    return Doubled.apply(x.view(60, -1))


@pytest.mark.parametrize("part", [Through(Doubled.apply), Through(whole)])
@pytest.mark.parametrize("counted", [slice(None), slice(50, None)])
def test_a_large_batch_is_checked_by_a_part_that_can_be_computed_and_counts(part, counted):
    y = torch.full((60,), -100)
    y[counted] = torch.arange(60)[counted] % 3
    notes = notes_of(net(part), x=X.repeat(5, 1), y=y)
    assert any("straight-through" in note for note in notes)


def test_a_part_may_have_a_method_of_the_name_of_a_state_of_quantization():
    model = net(nn.Tanh())
    model[1].fake_quant_enabled = lambda: False
    assert flatlas.measure(model, DATA, ["norms"]).table.converged.all()


def test_quantized_models():
    """Rounding is refused; whole weights get a note, and are not measured."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.ao import quantization

        model = nn.Sequential(quantization.QuantStub(), *net(nn.ReLU()))
        model.qconfig = quantization.get_default_qat_qconfig("fbgemm")
        quantization.prepare_qat(model.train(), inplace=True)
        model(X)
        with pytest.raises(flatlas.FlatlasError, match="disable_fake_quant"):
            flatlas.measure(model, DATA, ["norms"])
        model.apply(quantization.disable_fake_quant).apply(quantization.disable_observer)
        norm = torch.cat([one.detach().flatten() for one in model.parameters()]).norm()
        found = flatlas.measure(model, DATA, ["norms"])
        assert found["norms"].weight_norm == pytest.approx(norm.item(), rel=1e-6)
        whole = quantization.quantize_dynamic(net(nn.ReLU()), {nn.Linear})
        with pytest.raises(flatlas.FlatlasError, match="before its layers were quantized"):
            flatlas.measure(whole, DATA, ["norms"])
        mixed = nn.Sequential(whole[0], nn.ReLU(), nn.Linear(6, 3))
        with pytest.raises(flatlas.FlatlasError, match=r"give dtype=torch\.float32"):
            flatlas.measure(mixed, DATA, ["norms"])
    notes = notes_of(mixed, torch.float32)
    assert any("layers 0 are quantized" in note for note in notes)


OPTIONS = {
    "duality": {"layer": "2"},
    "pca_flatness": {"trajectory": [net(nn.Tanh()), nn.Sequential(*net(nn.Tanh())).double()]},
    "regret": {"damping": 0.1, "radius": 0.01},
    "learning_coefficient": {"chains": 2, "steps": 4, "burn_in": 4, "minibatches": True},
    "pac_bayes": {"pairs": 2, "tolerance": 0.1},
    "box_sharpness": {"epochs": 3, "by": "lbfgs"},
    "spectral_density": {"steps": 5, "top": 1, "probes": 2},
    "adaptive_sharpness": {"starts": 2, "pairs": 2, "steps": 3},
    "m_sharpness": {"starts": 2, "steps": 3, "examples": 3},
    "hessian": {"top": 2, "probes": 2},
    "gauss_newton": {"top": 2, "probes": 2},
    "gradient_noise": {"top": 2},
    "relative_flatness": {"probes": 2},
}


@pytest.fixture
def on_meta():
    """Numbers made without a device have no values."""
    yield lambda: torch.set_default_device("meta")
    torch.set_default_device(None)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_default_device_changes_nothing(measure, on_meta):
    model, options = net(nn.Tanh()), dict(OPTIONS.get(measure, {}))
    if measure == "pca_flatness":
        states = [{name: p * s for name, p in model.state_dict().items()} for s in (1, 1.1, 1.3)]
        options = {"trajectory": states, "top": 1}
    expected = flatlas.measure(model, DATA, {measure: options}, test=DATA).table.value
    on_meta()
    found = flatlas.measure(model, DATA, {measure: options}, test=DATA).table.value
    assert torch.get_default_device().type == "meta"
    assert found.equals(expected)


def test_a_surface_and_a_model_that_makes_tensors_ignore_the_default_device(on_meta):
    model = net(Through(lambda x: x + torch.arange(6)))
    surfaces = []
    for _ in range(2):
        for directions in ("random", "hessian"):
            surfaces.append(flatlas.surface(model, DATA, directions, points=3).loss.tolist())
        on_meta()
    assert surfaces[:2] == surfaces[2:]


NORMED = {
    "parametrized": nn.utils.parametrizations.weight_norm,
    "spectral": nn.utils.parametrizations.spectral_norm,
    "orthogonal": nn.utils.parametrizations.orthogonal,
    "old": nn.utils.weight_norm,
    "old spectral": nn.utils.spectral_norm,
    "pruned": lambda layer: prune.random_unstructured(layer, "weight", 0.5),
}


@pytest.mark.filterwarnings("ignore:.*weight_norm.*:FutureWarning")
@pytest.mark.parametrize("norm", NORMED.values(), ids=NORMED)
def test_the_relative_flatness_of_a_computed_weight_is_refused(norm):
    """Neither an earlier layer nor a matrix behind the weight is measured in its place."""
    model = net(nn.Tanh())
    norm(model[2])
    matrices = [name for name, one in model[2].named_parameters("2") if one.ndim == 2]
    assert matrices
    for weight in (None, *matrices):
        said = "'2', is not a parameter" if weight is None else "a matrix, 0.weight"
        with pytest.raises(flatlas.FlatlasError, match=said):
            flatlas.measure(model, DATA, {"relative_flatness": {"weight": weight}})
    few = {"relative_flatness": {"probes": 2}}
    for chosen in ("0.*", ["0.*", "2.bias"]):
        found = flatlas.measure(model, DATA, few, parameters=chosen)
        assert found["relative_flatness"].weight == "0.weight"


def test_the_relative_flatness_of_the_layer_before_a_constant_head():
    model = nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 3, bias=False))
    constant = model[1].weight.detach()
    del model[1].weight
    model[1].register_buffer("weight", constant)
    found = flatlas.measure(model, DATA, {"relative_flatness": {"probes": 2}})
    assert found["relative_flatness"].weight == "0.weight"


class Named(nn.Module):
    """Matrices whose names begin as a method and a layer do."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.fc, self.to_q = nn.Linear(4, 6), nn.Parameter(torch.randn(6, 6))
        self.fc_out = nn.Parameter(torch.randn(3, 6))

    def forward(self, x):
        return self.fc(x) @ self.to_q.T @ self.fc_out.T


def test_the_relative_flatness_of_a_matrix_of_any_name():
    for weight in ("to_q", "fc_out"):
        asked = {"relative_flatness": {"weight": weight, "probes": 2}}
        assert flatlas.measure(Named(), DATA, asked)["relative_flatness"].weight == weight


def test_a_beta_that_magnifies_the_round_off_of_the_loss_is_refused():
    few = {"chains": 2, "steps": 4, "burn_in": 4}
    for beta, dtype in ((1e6, torch.float32), (1e16, torch.float64)):
        asked = {"learning_coefficient": {**few, "beta": beta}}
        with pytest.raises(flatlas.FlatlasError, match="Take a smaller beta"):
            flatlas.measure(net(nn.Tanh()), DATA, asked, dtype=dtype)


@pytest.mark.parametrize("options", [{"step_size": 1e6}, {"step_size": 1e3, "leaps": 5}])
@pytest.mark.parametrize("minibatches", [True, False])
def test_a_step_that_is_far_too_long_does_not_converge(options, minibatches):
    few = {"chains": 2, "steps": 20, "burn_in": 4, "minibatches": minibatches}
    asked = {"learning_coefficient": {**few, **options}}
    found = flatlas.measure(net(nn.Tanh()), DATA, asked)
    assert not found["learning_coefficient"].converged


def test_a_last_batch_of_one_number_may_be_a_part_of_a_larger_tensor():
    """A column of one number has the stride of the table, but counts as contiguous."""
    model, table = nn.Sequential(nn.Linear(1, 1), nn.Flatten(0)), torch.arange(26.0).view(13, 2)
    views = [(part[:, :1], part[:, 1]) for part in table.split(5, dim=0)[:2] + table[10:].split(2)]
    assert views[-1][1].stride() == (2,)
    copies = [(x.clone(), torch.tensor(y.tolist())) for x, y in views]
    found, expected = (
        flatlas.measure(model, data, {"hessian": {"top": 1}}, loss="mse").table.value
        for data in (views, copies)
    )
    assert found.equals(expected)


def fixed_features(x):
    """Random features that are drawn again in each pass, from a seed."""
    features = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    return (x @ features.to(x)).tanh()


@pytest.mark.parametrize("own", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    "function",
    [fixed_features, lambda x: nn.functional.rms_norm(1e-5 * x, (4,)).repeat(1, 2)[:, :6]],
)
def test_a_copy_in_another_precision_that_is_another_function_gets_a_note(function, own):
    model = nn.Sequential(Through(function), nn.Linear(6, 3)).to(own)
    assert any("own precision" in note for note in flatlas.measure(model, DATA, ["norms"]).notes)
    usual = net(nn.BatchNorm1d(6), nn.GELU()).to(own)
    assert not flatlas.measure(usual, DATA, ["norms"]).notes


class Mixed(nn.Module):
    """A norm in float32 between layers in bfloat16."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(4, 6), nn.LayerNorm(6), nn.Linear(6, 3)
        self.to(torch.bfloat16).norm.float()

    def forward(self, x):
        seen = self.norm(self.first(x).to(self.norm.weight.dtype))
        return self.last(seen.to(self.last.weight.dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("make", [Mixed, lambda: net(nn.GELU()).double()])
def test_round_off_in_the_coarsest_precision_gets_no_note(make, dtype):
    torch.manual_seed(0)
    assert not flatlas.measure(make(), DATA, ["norms"], dtype=dtype).notes


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("own", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_a_norm_without_an_eps_keeps_that_of_its_dtype(own, affine):
    """torch's eps for float64 is smaller and would turn small numbers into large ones."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.RMSNorm(4, elementwise_affine=affine), nn.Linear(4, 3)).to(own)
    x = (1e-4 * X).to(own)
    expected = nn.functional.cross_entropy(model(x), Y).item()
    for dtype in DTYPES:
        with opened(model, (x, Y), None, {"dtype": dtype}) as problem:
            of = problem.training
            round_off = max(1e-5, torch.finfo(own).eps)
            assert of.value(of.w).item() == pytest.approx(expected, rel=round_off)
    assert model[0].eps is None
