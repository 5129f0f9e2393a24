"""Models whose forward pass torch computes in a special way: against differences of gradients."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from torch.utils.checkpoint import checkpoint

from flatlas.models.batches import Batches
from flatlas.models.losses import Loss
from flatlas.models.objective import Objective

CPU = torch.device("cpu")
RANDOM = torch.Generator().manual_seed(0)
X, Y = torch.rand(24, 6, generator=RANDOM, dtype=torch.float64), torch.arange(24) % 3


def products(model, loss="cross_entropy", chosen=None):
    """The Hessian and the Gauss-Newton matrix, by their products with unit vectors."""
    objective = Objective(model, Batches((X, Y), CPU, torch.float64, 0), Loss(loss), chosen)
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


def old_weight_norm(layer):
    with pytest.warns(FutureWarning):
        return nn.utils.weight_norm(layer)


NORMS = {"old": old_weight_norm, "new": nn.utils.parametrizations.weight_norm}


@pytest.mark.parametrize("norm", NORMS.values(), ids=NORMS)
def test_weight_norm_has_its_own_hessian(norm):
    torch.manual_seed(0)
    model = nn.Sequential(norm(nn.Linear(6, 4)), nn.Tanh(), nn.Linear(4, 3))
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

    named = dict(model.named_parameters())
    of_curved = torch.func.jacrev(
        lambda w: torch.func.functional_call(model, w, (X,))[1 - linear].flatten()
    )(named)
    jacobian = torch.cat([of_curved[name].flatten(1) for name in named], 1)
    curvature = torch.autograd.functional.hessian(
        lambda z: cross_entropy(z.view(24, 3), Y), model(X)[1 - linear].detach().flatten()
    )
    expected = jacobian.T @ curvature @ jacobian
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
    loss = Interrupted("cross_entropy")
    objective = Objective(Pair().a, Batches((X, Y), CPU, torch.float64, 0), loss)
    for of in (objective.value_and_gradient, lambda w: objective.hessian_product(w[None])):
        # The traceback that pytest keeps has the frames of the interrupted call.
        with pytest.raises(KeyboardInterrupt) as kept:
            of(objective.w)
        assert torch.backends.cuda.flash_sdp_enabled(), kept
