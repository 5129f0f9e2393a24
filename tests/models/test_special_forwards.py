"""Models whose forward pass torch computes in a special way: against differences of gradients."""

from dataclasses import dataclass

import pytest
import torch
from seven_models import objective_of
from torch import nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from torch.utils.checkpoint import checkpoint

import flatlas
from flatlas.errors import FlatlasError
from flatlas.library.problem import opened
from flatlas.models.losses import Loss

RANDOM = torch.Generator().manual_seed(0)
X, Y = torch.rand(24, 6, generator=RANDOM, dtype=torch.float64), torch.arange(24) % 3


def products(model, loss="cross_entropy", chosen=None):
    """The Hessian and the Gauss-Newton matrix, by their products with unit vectors."""
    objective = objective_of(model, (X, Y), loss, chosen)
    unit = torch.eye(objective.size, dtype=torch.float64)
    return objective.hessian_product(unit), objective.gauss_newton_product(unit)


def differences(model, loss=cross_entropy, names="", step=1e-5):
    """The Hessian by differences of the gradient, in the parameters with these first letters."""
    model = model.double().eval()
    parameters = [one for name, one in model.named_parameters() if name[0] in names or not names]
    w = parameters_to_vector(parameters).detach()

    def gradient(at):
        vector_to_parameters(at, parameters)
        return parameters_to_vector(torch.autograd.grad(loss(model(X), Y), parameters))

    steps = step * torch.eye(len(w), dtype=torch.float64)
    return torch.stack([(gradient(w + one) - gradient(w - one)) / (2 * step) for one in steps])


def of_logits(z):
    return cross_entropy(z.view(24, 3), Y)


def dense_gauss_newton(model, flat, loss=of_logits, names=""):
    """Jᵀ (∂²ℓ/∂z²) J by torch alone, with the outputs z as one `flat` vector."""
    named = {name: one for name, one in model.named_parameters() if name[0] in names or not names}

    def outputs(w):
        return flat(torch.func.functional_call(model, w, (X,)))

    slopes = torch.func.jacrev(outputs)(named)
    jacobian = torch.cat([slopes[name].flatten(1) for name in named], 1)
    curvature = torch.autograd.functional.hessian(loss, outputs(named).detach())
    return jacobian.T @ curvature @ jacobian


def old_weight_norm(layer):
    with pytest.warns(FutureWarning):
        return nn.utils.weight_norm(layer)


NORMS = {"old": old_weight_norm, "new": nn.utils.parametrizations.weight_norm}


@pytest.mark.parametrize("norm", NORMS.values(), ids=NORMS)
def test_weight_norm_has_its_own_hessian(norm):
    torch.manual_seed(0)
    model = nn.Sequential(norm(nn.Linear(6, 4)), nn.Tanh(), nn.Linear(4, 3))
    torch.testing.assert_close(products(model)[0], differences(model), rtol=0, atol=1e-8)


def test_hardsigmoid_has_a_hessian():
    """torch's own has none: networks such as MobileNetV3 could not be measured."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 4), nn.Hardsigmoid(), nn.Linear(4, 3))
    torch.testing.assert_close(products(model)[0], differences(model), rtol=0, atol=1e-8)


class Pair(nn.Module):
    """Two outputs."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b, self.c = nn.Linear(6, 4), nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x):
        h = torch.tanh(self.a(x))
        return self.b(h), self.c(h)


@pytest.mark.parametrize("linear", [0, 1])
def test_the_gauss_newton_matrix_of_a_loss_that_is_linear_in_one_output(linear):
    model = Pair().double()

    def loss(output, target):
        return output[linear].mean() + cross_entropy(output[1 - linear], target)

    expected = dense_gauss_newton(model, lambda made: made[1 - linear].flatten())
    torch.testing.assert_close(products(model, loss)[1], expected, rtol=0, atol=1e-12)


def test_the_gauss_newton_matrix_of_a_linear_loss_is_0():
    found = products(Pair().a, lambda output, target: output.mean())
    assert not found[1].any()


class Checkpointed(nn.Module):
    """A block whose activations are computed again when they are needed."""

    def __init__(self, **how):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.block, self.last = nn.Linear(6, 4), nn.Linear(4, 4), nn.Linear(4, 3)
        self.how = how

    def forward(self, x):
        x = torch.tanh(self.first(x))
        run = lambda x: torch.tanh(self.block(x))  # noqa: E731
        return self.last(checkpoint(run, x, **self.how) if self.how else run(x))


@pytest.mark.parametrize("names", ["fbl", "bl"])
@pytest.mark.parametrize("reentrant", [True, False])
def test_a_checkpointed_block_is_differentiated_like_any_other(reentrant, names):
    chosen = [f"{name}*" for name in names]
    found = products(Checkpointed(use_reentrant=reentrant), chosen=chosen)
    expected = differences(Checkpointed(), names=names)
    torch.testing.assert_close(found[0], expected, rtol=0, atol=1e-8)
    torch.testing.assert_close(found, products(Checkpointed(), chosen=chosen))


class Interrupted(Loss):
    """The user interrupts while the losses of batches are summed."""

    def of(self, *given):
        return super().of(*given)[0], self

    def __radd__(self, other):
        raise KeyboardInterrupt


def test_an_interrupt_leaves_torch_as_it_was():
    objective = objective_of(Pair().a, (X, Y), "cross_entropy")
    objective.loss = Interrupted("cross_entropy")
    for of in (objective.value_and_gradient, lambda w: objective.hessian_product(w[None])):
        # The traceback that pytest keeps has the frames of the interrupted call.
        with pytest.raises(KeyboardInterrupt) as kept:
            of(objective.w)
        assert torch.backends.cuda.flash_sdp_enabled(), kept


class Padded(nn.Module):
    """An encoder of sequences, whose last places are padding."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)
        self.encoder, self.last = nn.TransformerEncoder(layer, 1), nn.Linear(6, 3)

    def forward(self, x):
        padding = (torch.arange(4) > 1).expand(len(x), 4)
        x = self.encoder(x[:, None] * torch.arange(1, 5)[:, None], src_key_padding_mask=padding)
        return self.last(x.mean(1))


def test_padding_has_the_same_loss_with_and_without_gradients():
    model = Padded().double().eval()
    expected = cross_entropy(model(X), Y).item()
    with opened(model, (X, Y), None, {}) as problem:
        of = problem.training
        assert of.value(of.w).item() == pytest.approx(expected, rel=1e-12)
        assert of.value_and_gradient(of.w)[0].item() == pytest.approx(expected, rel=1e-12)
    assert torch.backends.mha.get_fastpath_enabled()


class Rotated(nn.Module):
    """Turns pairs of inputs by complex numbers."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.last = nn.Linear(6, 3)
        self.register_buffer("turns", torch.polar(torch.ones(3), torch.arange(3.0)))

    def forward(self, x):
        turned = torch.view_as_complex(x.view(-1, 3, 2)) * self.turns
        return self.last(torch.view_as_real(turned).flatten(1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_complex_buffers_keep_both_parts(dtype):
    model = Rotated()
    expected = cross_entropy(model(X.float()), Y).item()
    objective = objective_of(model, (X, Y), "cross_entropy", dtype=dtype)
    assert objective.value(objective.w).item() == pytest.approx(expected, rel=1e-6)
    assert objective.model.turns.dtype == dtype.to_complex()


class Filtered(Pair):
    """It multiplies frequencies by pairs of real weights, as global filter networks do."""

    def __init__(self):
        super().__init__()
        self.pairs = nn.Parameter(torch.randn(4, 2))

    def forward(self, x):
        filtered = torch.fft.rfft(x) * torch.view_as_complex(self.pairs)
        return super().forward(torch.fft.irfft(filtered, n=6))[0]


def test_pairs_of_weights_may_be_complex_numbers():
    """A complex view begins at an even place in memory, but a part of a vector may not."""
    found = products(Filtered(), chosen="[abp]*")
    torch.testing.assert_close(found[0], differences(Filtered(), names="abp"), rtol=0, atol=1e-8)
    expected = dense_gauss_newton(Filtered().double(), torch.flatten, names="abp")
    torch.testing.assert_close(found[1], expected, rtol=0, atol=1e-12)


def test_an_embedding_that_rescales_its_weights_is_refused():
    with pytest.raises(FlatlasError, match="'0' has max_norm"):
        products(nn.Sequential(nn.Embedding(6, 4, max_norm=0.1)))


class Clamped(nn.Linear):
    """It keeps its weights in a box, at each pass."""

    def forward(self, x):
        with torch.no_grad():
            self.weight.clamp_(-0.1, 0.1)
        return super().forward(x)


def test_a_model_that_changes_its_weights_leaves_w_as_it_was():
    objective = objective_of(Clamped(6, 3), (X, Y), "cross_entropy")
    before = objective.w.clone()
    objective.value(objective.w)
    objective.hessian_product(objective.w.unsqueeze(0))
    assert objective.w.equal(before)


class Compiled(Pair):
    """With a part that is compiled, or a function."""

    def __init__(self, wrap):
        super().__init__()
        self.a, self.wrapped = wrap(self.a), wrap(torch.tanh)

    def forward(self, x):
        return self.b(self.wrapped(self.a(x)))


def test_compiled_parts_are_measured_without_that():
    torch.compiler.reset()
    model = Compiled(lambda part: torch.compile(part, backend="aot_eager"))
    with opened(model, (X, Y), None, {"parameters": "[ab].*"}) as problem:
        found = problem.training.hessian_product(torch.eye(problem.training.size).double())
    expected = differences(Compiled(lambda part: part), names="ab")
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-8)


class Penalized(Pair):
    """It returns its own penalty."""

    def forward(self, x):
        return {"made": super().forward(x)[0], "penalty": self.a.weight.square().sum()}


def test_a_penalty_that_the_model_returns_counts():
    def loss(output, target=Y):
        return cross_entropy(output["made"], target) + output["penalty"]

    found = products(Penalized(), loss, "[ab]*")[0]
    expected = differences(Penalized(), lambda output, _: loss(output), "ab")
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-8)


@dataclass
class Made:
    """An output into which torch does not look."""

    of: torch.Tensor


class Wrapped(Pair):
    def forward(self, x):
        first, second = super().forward(x)
        return first, Made(second)


def test_the_gauss_newton_matrix_of_hidden_outputs_is_refused():
    def loss(output, target):
        return cross_entropy(output[0] + output[1].of, target)

    with pytest.raises(FlatlasError, match=r"Gauss-Newton.*a tuple of 2"):
        products(Wrapped(), loss)


class Cubed(torch.autograd.Function):
    """A user's function, whose gradient has a derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, slope):
        return 3 * ctx.saved_tensors[0] ** 2 * slope


class CubedOnce(Cubed):
    backward = staticmethod(once_differentiable(Cubed.backward))


class CubedByNumpy(Cubed):
    """As a kernel in another language, of which torch has no record."""

    @staticmethod
    def backward(ctx, slope):
        with torch.no_grad():
            return Cubed.backward(ctx, slope)


class Flat(Cubed):
    """Its gradient is left out on purpose."""

    @staticmethod
    def backward(ctx, slope):
        return torch.zeros_like(slope)


class Own(Pair):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.c(self.a(x) + self.function.apply(self.a(x)))


def test_a_users_function_has_its_second_derivative():
    found = products(Own(Cubed), chosen=["a.*", "c.*"])[0]
    torch.testing.assert_close(found, differences(Own(Cubed), names="ac"), rtol=0, atol=1e-7)
    assert products(Own(Flat), chosen=["a.*", "c.*"])[0].any()


@pytest.mark.parametrize("function", [CubedOnce, CubedByNumpy])
@pytest.mark.parametrize("measure", ["hessian", "gauss_newton"])
def test_a_function_without_a_second_derivative_is_refused(function, measure):
    """torch takes its gradient for a constant, and would leave it out without a word."""
    with pytest.raises(FlatlasError, match=f"second derivative.*{function.__name__}"):
        flatlas.measure(Own(function), (X, Y), [measure])
    few = {"adaptive_sharpness": {"starts": 1, "pairs": 2}}
    found, expected = (flatlas.measure(Own(one), (X, Y), few) for one in (function, Cubed))
    assert found.table.value.tolist() == expected.table.value.tolist()


class Through(Pair):
    """Its first layer goes through a function."""

    def __init__(self, of):
        super().__init__()
        self.of = of

    def forward(self, x):
        return self.c(self.of(self.a(x)))


def freed(z):
    """As by create_graph=self.training in evaluation mode."""
    with torch.enable_grad():
        z = z if z.requires_grad else z.detach().requires_grad_()
        cubes = z**3
        return cubes + torch.autograd.grad(cubes.sum(), z)[0]


@pytest.mark.parametrize("measure", ["hessian", "gauss_newton", "adaptive_sharpness"])
def test_a_model_without_a_gradient_is_refused(measure):
    for of in (freed, lambda z: torch.special.zeta(2 + z**2, 1 + z**2)):
        with pytest.raises(FlatlasError, match="torch can't compute"):
            flatlas.measure(Through(of), (X, Y), [measure])


@pytest.mark.parametrize("measure", ["hessian", "gauss_newton"])
def test_a_layer_whose_gradient_torch_cannot_record_is_refused(measure):
    def normalized(z):
        return nn.CrossMapLRN2d(2)(z.view(len(z), -1, 1, 1)).view_as(z)

    with pytest.raises(FlatlasError, match="second derivative"):
        flatlas.measure(Through(normalized), (X, Y), [measure])
    assert flatlas.measure(Through(normalized), (X, Y), {"box_sharpness": {"epochs": 2}})


class Equilibrium(Pair):
    """A layer at its fixed point, whose gradient a hook computes, as in deep equilibrium models."""

    def forward(self, x):
        with torch.no_grad():
            z = self.a(x)
            for _ in range(50):
                z = self.step(z, x)
        z = self.step(z, x)
        if z.requires_grad:
            fixed = z.detach().requires_grad_()
            once = self.step(fixed, x)

            def solved(slope):
                found = slope
                for _ in range(50):
                    found = slope + torch.autograd.grad(once, fixed, found, retain_graph=True)[0]
                return found

            z.register_hook(solved)
        return self.c(z)

    def step(self, z, x):
        return torch.tanh(self.a(x) + 0.4 * z.roll(1, 1))


@pytest.mark.parametrize("measure", ["hessian", "gauss_newton"])
def test_a_gradient_that_a_hook_computes_without_a_record_is_refused(measure):
    with pytest.raises(FlatlasError, match=r"second derivative.*hook"):
        flatlas.measure(Equilibrium(), (X, Y), [measure], parameters="[ac]*")
    few = {"adaptive_sharpness": {"starts": 1, "pairs": 2}}
    assert not flatlas.measure(Equilibrium(), (X, Y), few, parameters="[ac]*").notes


class Halved(Pair):
    """Its last layer computes in another precision."""

    def __init__(self, precision):
        super().__init__()
        self.precision = precision

    def forward(self, x):
        h, weight = torch.tanh(self.a(x)), self.c.weight
        return nn.functional.linear(h.to(self.precision), weight.to(self.precision)).to(x.dtype)


def at_its_minimum(dtype):
    """A linear model whose gradient is only round-off, and its data."""
    given, target = X.to(dtype), torch.sin(9 * X[:, :1]).to(dtype)
    model = nn.Linear(6, 1, bias=False).to(dtype)
    with torch.no_grad():
        model.weight.copy_(torch.linalg.lstsq(given, target).solution.T)
    return model, (given, target)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_round_off_is_no_sign_of_a_missing_record(dtype):
    model, data = at_its_minimum(dtype)
    largest = flatlas.measure(model, data, ["hessian"], loss="mse", dtype=dtype).table.value[0]
    expected = 2 / 24 * torch.linalg.matrix_norm(X, 2).item() ** 2
    assert largest == pytest.approx(expected, rel=1e-4)


def test_a_part_in_half_precision_is_no_sign_of_a_missing_record():
    def largest(model):
        return flatlas.measure(model, (X, Y), ["hessian"], parameters="[ac].weight").table.value[0]

    exact, halved = Halved(torch.float64).double(), Halved(torch.bfloat16)
    optimizer = torch.optim.LBFGS(exact.parameters(), max_iter=50)

    def closure():
        optimizer.zero_grad()
        loss = cross_entropy(exact(X), Y)
        loss.backward()
        return loss

    optimizer.step(closure)
    halved.load_state_dict(exact.state_dict())
    assert largest(halved) == pytest.approx(largest(exact), rel=0.1)


class Wave(nn.Module):
    """Complex outputs."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = nn.Linear(6, 2), nn.Linear(6, 2)

    def forward(self, x):
        return torch.complex(self.a(x), torch.tanh(self.b(x)))


def test_the_gauss_newton_matrix_of_complex_outputs():
    model = Wave().double()

    def loss(output, target):
        return ((output.abs() ** 2 - 1) ** 2).mean()

    def of_pairs(z):
        return loss(torch.view_as_complex(z.view(24, 2, 2)), Y)

    expected = dense_gauss_newton(model, lambda z: torch.view_as_real(z).flatten(), of_pairs)
    torch.testing.assert_close(products(model, loss)[1], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("function", [CubedOnce, CubedByNumpy])
def test_a_function_behind_a_layer_without_a_second_derivative_is_refused(function):
    with pytest.raises(FlatlasError, match=f"second derivative.*{function.__name__}"):
        test = (X + 0.1, Y)
        flatlas.measure(Through(function.apply), (X, Y), {"duality": {"layer": "a"}}, test=test)
