"""Modules and checkpoints that can be neither trained nor measured, each with its own reason."""

from copy import deepcopy

import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn.functional import dropout
from torch.nn.utils import prune
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

from flatlas.errors import FlatlasError
from flatlas.nets import build_net
from flatlas.nets.modules import ModuleNet
from flatlas.plan.families.own import Own

SHAPE, OUTPUTS = (1, 2, 2), 4


def stack(*above):
    return nn.Sequential(nn.Flatten(), nn.Linear(4, 4), nn.ReLU(), *above, nn.Linear(4, OUTPUTS))


def weighing(value, of=slice(None)):
    def make():
        net = stack()
        net[1].weight.data[of] = value
        return net

    return make


def behind_zeros():
    """Its last layer begins with zeros, which hide that batch norm uses the other images."""
    net = stack(nn.BatchNorm1d(4, track_running_stats=False))
    nn.init.zeros_(net[-1].weight)
    nn.init.zeros_(net[-1].bias)
    return net


def sharing():
    net = stack()
    net[3].weight = net[1].weight
    return net


class Dropping(nn.Sequential):
    """Also in evaluation mode."""

    def forward(self, images):
        return super().forward(dropout(images, training=True))


class Two(nn.Linear):
    def forward(self, images):
        return super().forward(images.flatten(1)), images


class Squeezing(nn.Sequential):
    """Without the dimension of the batch, if it has one image."""

    def forward(self, images):
        return super().forward(images).squeeze()


class Single(nn.Linear):
    """It takes images in float32 alone."""

    def forward(self, images):
        return super().forward(images.flatten(1).float())


class Complex(nn.Linear):
    """With a trained complex number."""

    def __init__(self):
        super().__init__(4, OUTPUTS)
        self.phase = nn.Parameter(torch.ones((), dtype=torch.complex64))

    def forward(self, images):
        return super().forward(images.flatten(1) * self.phase.real)


class Averaging(nn.Linear):
    """It remembers the mean of what it saw in training."""

    def __init__(self):
        super().__init__(4, 4)
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        if self.training:
            self.mean.lerp_(x.detach().mean(0), 0.1)
        return super().forward(x - self.mean)


class Counting(nn.Linear):
    """It counts the images that it saw in training; no output depends on their number."""

    def __init__(self, buffer):
        super().__init__(4, 4)
        if buffer:
            self.register_buffer("seen", torch.tensor(0))
        else:
            self.seen = torch.tensor(0)

    def forward(self, x):
        if self.training:
            self.seen += len(x)
        return super().forward(x)


def test_a_counter_must_be_an_attribute_that_is_no_buffer():
    with pytest.raises(FlatlasError, match=r"3\.seen.*attribute"):
        ModuleNet(lambda: stack(Counting(buffer=True)), SHAPE, OUTPUTS).refuse_training()
    ModuleNet(lambda: stack(Counting(buffer=False)), SHAPE, OUTPUTS).refuse_training()


class Placeholder(nn.Linear):
    """With a buffer of NaN that stays as it is."""

    def __init__(self):
        super().__init__(4, 4)
        self.register_buffer("unused", torch.tensor([torch.nan, 1.0]))


def test_a_buffer_of_nan_that_stays_is_no_change():
    ModuleNet(lambda: stack(Placeholder()), SHAPE, OUTPUTS).refuse_training()


class Centering(nn.Linear):
    """It subtracts the mean of the last batch of its training, in a buffer that is None before."""

    def __init__(self):
        super().__init__(4, 4)
        self.register_buffer("center", None)

    def forward(self, x):
        if self.training:
            self.center = x.detach().mean(0)
        return super().forward(x if self.center is None else x - self.center)


# Nets with buffers that training changes, and the name of one.
CHANGING = {
    "spectral norm": (lambda: stack(spectral_norm(nn.Linear(4, 4))), "3.parametrizations"),
    "spectral norm of one output, whose vectors are exact from the start": (
        lambda: stack(spectral_norm(nn.Linear(4, 1)), nn.Linear(1, 4)),
        "3.parametrizations",
    ),
    "instance norm": (
        lambda: nn.Sequential(nn.InstanceNorm2d(1, track_running_stats=True), stack()),
        "0.running_mean",
    ),
    "its own mean": (lambda: stack(Averaging()), "3.mean"),
    "a mean that it has only after training": (lambda: stack(Centering()), "3.center"),
}


@pytest.mark.parametrize(("make", "name"), CHANGING.values(), ids=CHANGING)
def test_a_net_with_buffers_that_training_changes_is_measured_with_its_own(make, name):
    torch.manual_seed(0)
    module, images = make(), torch.rand(5, *SHAPE)
    for _ in range(3):
        module(images)
    net = ModuleNet(lambda: deepcopy(module), SHAPE, OUTPUTS, trained=True)
    logits = net.forward(net.initial([0]), images.unsqueeze(0))[0]
    torch.testing.assert_close(logits, module.eval()(images))
    for one in (net, ModuleNet(make, SHAPE, OUTPUTS)):
        for refused in (one.refuse_drawn, one.refuse_training):
            with pytest.raises(FlatlasError, match=name):
                refused()


@pytest.mark.parametrize(
    "computed",
    [weight_norm, lambda last: prune.random_unstructured(last, "bias", amount=0.5)],
    ids=["weight", "bias"],
)
def test_a_net_that_computes_its_last_weights_is_measured_but_not_trained(computed):
    def make():
        torch.manual_seed(0)
        net = stack()
        computed(net[-1])
        return net

    net, images = ModuleNet(make, SHAPE, OUTPUTS), torch.rand(5, *SHAPE)
    torch.testing.assert_close(net.forward(net.initial([0]), images[None])[0], make()(images))
    with pytest.raises(FlatlasError, match=r"last nn\.Linear"):
        net.refuse_training()


class Broken(nn.Linear):
    def forward(self, images):
        raise KeyError("lost")


MODULES = {
    "NaN": (weighing(torch.nan), r"NaN or infinite weights, 16 of 16 in '1\.weight'"),
    "one NaN": (weighing(torch.nan, 2), r"NaN or infinite weights, 4 of 16 in '1\.weight'"),
    "infinite": (weighing(-torch.inf), "NaN or infinite weights"),
    "too large": (weighing(3e38), "logits .* NaN or infinite"),
    "sizes unknown": (lambda: stack(nn.LazyLinear(4)), r"'3\.weight'.*nn\.Linear"),
    "shared": (sharing, "shares its weights"),
    "random": (lambda: Dropping(*stack()), "may be random"),
    "two results": (lambda: Two(4, OUTPUTS), "a tuple for 3 images"),
    "batch norm of its batch": (
        lambda: stack(nn.BatchNorm1d(4, track_running_stats=False)),
        "depend on the other images .*track_running_stats",
    ),
    "batch norm of images of its batch": (
        lambda: nn.Sequential(nn.BatchNorm2d(1, track_running_stats=False), stack()),
        "depend on the other images",
    ),
    "batch norm of its batch, behind zeros": (behind_zeros, "depend on the other images"),
    "squeezed": (lambda: Squeezing(*stack()), r"\(4,\) for 1 image.*\(1, 4\)"),
    "float32 alone": (
        lambda: nn.Sequential(Single(4, 4), nn.Linear(4, OUTPUTS)),
        r"float64: .*\.to\(images\.dtype\)",
    ),
    "float32 alone, of double": (
        lambda: nn.Sequential(Single(4, 4), nn.Linear(4, OUTPUTS)).double(),
        r"float64: .*\.to\(images\.dtype\)",
    ),
    "complex": (lambda: nn.Sequential(Complex(), nn.Linear(4, 4)), r"'0\.phase' .*complex"),
    "an error": (lambda: Broken(4, OUTPUTS), r"images of shape \(1, 2, 2\).*lost"),
    "other images": (
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(5, OUTPUTS)),
        r"images of shape \(1, 2, 2\)",
    ),
    "other outputs": (lambda: nn.Sequential(stack(), nn.Linear(4, 3)), r"\(3, 3\).*\(3, 4\)"),
    "logarithms": (
        lambda: nn.Sequential(stack(), nn.LogSoftmax(1)),
        "does not end with its last nn.Linear",
    ),
    "no dense layer": (
        lambda: nn.Sequential(nn.Conv2d(1, OUTPUTS, 2), nn.Flatten()),
        "has no nn.Linear",
    ),
    "more above": (
        lambda: nn.Sequential(*stack(), nn.Unflatten(1, SHAPE), nn.Conv2d(1, 4, 2), nn.Flatten()),
        "does not end with its last nn.Linear",
    ),
}


@pytest.mark.parametrize(("make", "said"), MODULES.values(), ids=MODULES)
def test_a_module_is_refused_for_what_is_wrong_with_it(make, said):
    with pytest.raises(FlatlasError, match=said):
        ModuleNet(make, SHAPE, OUTPUTS)


def test_nets_whose_inner_layers_share_weights_are_taken():
    net = stack(nn.Linear(4, 4))
    net[3].weight = net[1].weight
    assert ModuleNet(lambda: net, SHAPE, OUTPUTS).outputs == OUTPUTS


class Root(nn.Module):
    """Weights that begin at 0 and are valid from 0 to 1e-6."""

    def __init__(self):
        super().__init__()
        self.v = nn.Parameter(torch.zeros(4))

    def forward(self, features):
        return (1e-6 - self.v).sqrt() + self.v.sqrt() + features


def test_a_net_that_is_undefined_beside_its_weights_is_taken():
    assert ModuleNet(lambda: stack(Root()), SHAPE, OUTPUTS).outputs == OUTPUTS


SOURCE = """
from torch import nn

def net():
    first = nn.BatchNorm2d(1), nn.Flatten(), nn.Linear(4, 4)
    return nn.Sequential(*first, nn.ReLU(), nn.Linear(4, 4))
"""


@pytest.fixture
def checkpoint(working_folder):
    """Builds the net of a folder from a state that is saved there."""
    (working_folder / "checked_nets.py").write_text(SOURCE)
    made = {}
    exec(SOURCE, made)

    def built(change):
        torch.manual_seed(0)
        state = change(made["net"]().state_dict())
        save_file(state, "mine.safetensors")
        own = Own(family="own", module="checked_nets:net", weights="mine.safetensors")
        return state, build_net(own, SHAPE, OUTPUTS)

    return built


STATES = {
    "all NaN": (lambda value: value * torch.nan, "has NaN or infinite weights, 1 of 1 in '0.w"),
    "infinite": (lambda value: value / 0, "has NaN or infinite weights"),
    "integers": (lambda value: (9 * value).round().to(torch.int8), r"has torch\.int8 in '0\.bias"),
    "truth values": (lambda value: value > 0, r"has torch\.bool in"),
}


@pytest.mark.parametrize(("change", "said"), STATES.values(), ids=STATES)
def test_a_checkpoint_without_numbers_is_refused(checkpoint, change, said):
    with pytest.raises(FlatlasError, match=rf"net\.weights: 'mine\.safetensors' {said}"):
        checkpoint(lambda state: {
            name: change(value) if value.is_floating_point() else value
            for name, value in state.items()
        })  # fmt: skip


def test_a_single_tensor_of_integers_is_named(checkpoint):
    with pytest.raises(FlatlasError, match=r"torch\.int64 in '4\.bias', .* torch\.float32"):
        checkpoint(lambda state: state | {"4.bias": state["4.bias"].long()})


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions_are_numbers(checkpoint, dtype):
    def in_precision(state):
        return {
            name: value.to(dtype) if value.is_floating_point() else value
            for name, value in state.items()
        }

    state, net = checkpoint(in_precision)
    weight = net.initial((0,))["fc.weight"][0]
    torch.testing.assert_close(weight, state["4.weight"].T.float(), rtol=0, atol=1e-7)
