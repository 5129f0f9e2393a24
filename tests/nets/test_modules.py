"""Nets that are torch modules, against our layered nets and against torch itself."""

import pytest
import torch
import torchvision
from torch import nn
from torch.optim.swa_utils import update_bn
from torchvision.models.resnet import BasicBlock, Bottleneck

from flatlas.hessian import hessian_of
from flatlas.hessian.loss import MeanLoss, value_and_gradient
from flatlas.nets import build_net, modules
from flatlas.nets.densenet import densenet
from flatlas.nets.modules import ModuleNet
from flatlas.nets.preactivation import Block, PreactivationNet
from flatlas.nets.resnet import resnet
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.families.densenet import Densenet
from flatlas.plan.families.preactivation import Preactivation
from flatlas.plan.families.resnet import Resnet
from flatlas.training.gradient import autograd_gradient, gradient

SHAPE, OUTPUTS = (2, 4, 4), 3


def dense_module():
    return nn.Sequential(nn.Flatten(), nn.Linear(32, 5), nn.ReLU(), nn.Linear(5, OUTPUTS))


def normed_module():
    return nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, OUTPUTS)
    )


def normal(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def random_weights(net, members=2):
    return {
        name: normal(members, *shape, seed=n) for n, (name, shape) in enumerate(net.shapes.items())
    }


def in_torch(make, net, parameters, member):
    """The module with one member's weights, as torch has them."""
    module = make().double()
    own = {name.removeprefix("features."): value[member] for name, value in parameters.items()}
    last = [name for name, part in module.named_modules() if isinstance(part, nn.Linear)][-1]
    own[f"{last}.weight"], own[f"{last}.bias"] = own.pop("fc.weight").T, own.pop("fc.bias")
    module.load_state_dict(own, strict=False)
    return module


class Recurrent(nn.Module):
    """Its inner layer returns a tuple."""

    def __init__(self):
        super().__init__()
        self.rows = nn.GRU(4, 5, batch_first=True)
        self.last = nn.Linear(5, OUTPUTS)

    def forward(self, images):
        return self.last(self.rows(images[:, 0])[0][:, -1])


def test_a_gpu_takes_as_many_images_as_its_memory_allows(monkeypatch):
    net = ModuleNet(Recurrent, SHAPE, OUTPUTS)
    cpu, cuda = net.at_once(torch.device("cpu")), []
    for memory in (1, 8 * 10**9, 16 * 10**9):
        monkeypatch.setattr(modules, "memory_of", lambda device, memory=memory: memory)
        cuda.append(net.at_once(torch.device("cuda")))
        assert net.at_once(torch.device("cpu")) == cpu
    assert cuda[0] == 1 and cuda[2] in (2 * cuda[1], 2 * cuda[1] + 1)


def test_a_layer_may_return_several_tensors():
    net = ModuleNet(Recurrent, SHAPE, OUTPUTS)
    weights, images = random_weights(net), normal(2, 7, *SHAPE)
    logits = net.forward(weights, images)
    for member in range(2):
        module = in_torch(Recurrent, net, weights, member)
        torch.testing.assert_close(logits[member], module(images[member]))


class Aside(nn.Module):
    """The dense module, beside a layer that no image passes."""

    def __init__(self):
        super().__init__()
        self.unused, self.used = nn.Linear(2, 2), dense_module()

    def forward(self, images):
        return self.used(images)


def test_an_unused_layer_has_no_gradient():
    net, alone = (ModuleNet(make, SHAPE, OUTPUTS) for make in (Aside, dense_module))
    weights, images = random_weights(net), normal(2, 7, *SHAPE)
    labels = torch.arange(14).remainder(OUTPUTS).view(2, 7)
    found = gradient(net, weights, images, labels, {})
    assert not any(found.pop(f"features.unused.{kind}").any() for kind in ("weight", "bias"))
    names = {name: name.replace("used.", "") for name in found}
    of_alone = {names[name]: weights[name] for name in names}
    expected = gradient(alone, of_alone, images, labels, {})
    torch.testing.assert_close({names[name]: value for name, value in found.items()}, expected)


@pytest.fixture
def twins():
    """A dense net as a module and as layers, the weights of both, and images with labels."""
    module = ModuleNet(dense_module, SHAPE, OUTPUTS)
    layered = build_net(DenseNet(family="dense", hidden=(5,), bias=True), SHAPE, OUTPUTS)
    weights = random_weights(module)
    same = {
        "fc1.weight": weights["features.1.weight"].mT.contiguous(),
        "fc1.bias": weights["features.1.bias"],
        "fc2.weight": weights["fc.weight"],
        "fc2.bias": weights["fc.bias"],
    }
    labels = torch.arange(14).remainder(OUTPUTS).view(2, 7)
    return (module, weights), (layered, same), normal(2, 7, *SHAPE), labels


def test_a_dense_module_is_the_same_net_as_its_layers(twins):
    (module, weights), (layered, same), images, labels = twins
    torch.testing.assert_close(module.forward(weights, images), layered.forward(same, images))
    activity = module.into(weights, images, "fc")
    torch.testing.assert_close(activity, layered.into(same, images, "fc2"))
    z = module.dense("fc").preactivation(weights, activity)
    torch.testing.assert_close(
        module.logits_from(weights, z, "fc"), module.forward(weights, images)
    )
    found, expected = (
        gradient(net, p, images, labels, {}) for net, p in ((module, weights), (layered, same))
    )
    torch.testing.assert_close(found["features.1.weight"].mT, expected["fc1.weight"])
    torch.testing.assert_close(found["fc.weight"], expected["fc2.weight"])


def test_its_hessian_is_that_of_the_layers(twins):
    *nets, images, labels = twins
    found, expected = (
        hessian_of(net, {name: value[:1] for name, value in p.items()}, images[:1], labels[:1])
        for net, p in nets
    )
    vectors = normal(3, found.size)
    inner, rest = vectors[:, :160].view(3, 5, 32), vectors[:, 160:]
    images_of = found.product(vectors)
    as_layers = expected.product(torch.cat([inner.mT.flatten(1), rest[:, :5], rest[:, 5:]], dim=1))
    moved = as_layers[:, :160].view(3, 32, 5).mT.flatten(1)
    torch.testing.assert_close(images_of, torch.cat([moved, as_layers[:, 160:]], dim=1))


def test_in_training_batch_norm_sees_the_minibatch():
    net = ModuleNet(normed_module, SHAPE, OUTPUTS)
    weights, images = random_weights(net), normal(2, 6, *SHAPE)
    labels = torch.arange(12).remainder(OUTPUTS).view(2, 6)
    found = gradient(net, weights, images, labels, {})
    for member in range(2):
        module = in_torch(normed_module, net, weights, member).train()
        nn.functional.cross_entropy(module(images[member]), labels[member]).backward()
        torch.testing.assert_close(found["features.0.weight"][member], module[0].weight.grad)
        torch.testing.assert_close(found["features.1.bias"][member], module[1].bias.grad)
        torch.testing.assert_close(found["fc.weight"][member], module[4].weight.grad.T)


class Particular(nn.Module):
    """A module that takes images with channels first alone."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(SHAPE[0], 3, 2)
        self.fc = nn.Linear(3 * (SHAPE[1] - 1) * (SHAPE[2] - 1), OUTPUTS)

    def forward(self, images):
        assert images.is_contiguous()
        return self.fc(self.conv(images).view(len(images), -1))


@pytest.mark.parametrize("bfloat16", [False, True])
def test_a_user_s_module_trains_with_channels_first(bfloat16):
    net = ModuleNet(Particular, SHAPE, OUTPUTS)
    weights = {name: value.float() for name, value in random_weights(net).items()}
    images, labels = normal(2, 6, *SHAPE).float(), torch.arange(12).remainder(OUTPUTS).view(2, 6)
    found = autograd_gradient(net, weights, images, labels, {}, bfloat16)
    for member in range(2):
        module = in_torch(Particular, net, weights, member).float()
        nn.functional.cross_entropy(module(images[member]), labels[member]).backward()
        expected, close = module.conv.weight.grad, {"rtol": 0.1, "atol": 0.02} if bfloat16 else {}
        torch.testing.assert_close(found["features.conv.weight"][member], expected, **close)


def test_a_module_draws_from_the_given_seeds():
    def make():
        return nn.Sequential(nn.Flatten(), nn.Linear(32, 6), nn.Dropout(0.5), nn.Linear(6, OUTPUTS))

    net = ModuleNet(make, SHAPE, OUTPUTS)
    assert net.random_training
    assert not ModuleNet(normed_module, SHAPE, OUTPUTS).random_training
    weights, images = random_weights(net), normal(2, 6, *SHAPE)
    state = torch.get_rng_state()
    logits = net.forward(weights, images, {"seed": torch.tensor([5, 6])})
    assert torch.equal(torch.get_rng_state(), state)
    for member, seed in enumerate((5, 6)):
        module = in_torch(make, net, weights, member).train()
        torch.manual_seed(seed)
        torch.testing.assert_close(logits[member], module(images[member]))
    evaluated = in_torch(make, net, weights, 0).eval()(images[0])
    torch.testing.assert_close(net.forward(weights, images)[0], evaluated)


def test_nothing_is_dropped_while_statistics_are_taken():
    net = ModuleNet(
        lambda: nn.Sequential(
            nn.Flatten(), nn.Dropout(0.5), nn.BatchNorm1d(32), nn.Linear(32, OUTPUTS)
        ),
        SHAPE, OUTPUTS,
    )  # fmt: skip
    images = normal(9, *SHAPE)
    found = net.statistics(random_weights(net, 1), images, torch.ones(9, dtype=torch.bool))
    torch.testing.assert_close(found["features.2.running_mean"], images.flatten(1).mean(0))
    torch.testing.assert_close(found["features.2.running_var"], images.flatten(1).var(0))


def test_statistics_are_those_of_torch(monkeypatch):
    """In blocks of images; with them the net equals torch's in `eval` mode."""
    monkeypatch.setattr(modules, "BLOCK", 5)
    net = ModuleNet(normed_module, SHAPE, OUTPUTS)
    weights = random_weights(net, members=1)
    images, counted = normal(16, *SHAPE), torch.arange(16) != 4
    blocks = []
    watched = net._module[1].register_forward_pre_hook(lambda _, given: blocks.append(given[0]))
    statistics = net.statistics(weights, images, counted)
    watched.remove()
    assert [len(block) for block in blocks] == [5, 5, 5]

    module = in_torch(normed_module, net, weights, 0)
    convolved = module[0](images[counted])
    places = [(convolved == block[:, None]).flatten(2).all(2).nonzero()[:, 1] for block in blocks]
    assert sorted(torch.cat(places).tolist()) == list(range(15))
    update_bn([images[counted][place] for place in places], module)
    torch.testing.assert_close(statistics["features.1.running_mean"], module[1].running_mean)
    torch.testing.assert_close(statistics["features.1.running_var"], module[1].running_var)
    logits = net.seeing(statistics).forward(weights, images.unsqueeze(0))[0]
    torch.testing.assert_close(logits, module.eval()(images))


def test_statistics_do_not_depend_on_images_seen_before():
    net = ModuleNet(normed_module, SHAPE, OUTPUTS)
    weights, images = random_weights(net, members=1), normal(9, *SHAPE)
    statistics, logits = [], []
    for _ in range(2):
        statistics.append(net.statistics(weights, images, torch.ones(9, dtype=torch.bool)))
        logits.append(net.forward(weights, images.unsqueeze(0)))
        net.forward(weights, 5 * images.unsqueeze(0), {})
    torch.testing.assert_close(*statistics, rtol=0, atol=0)
    assert torch.equal(*logits)


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        (Preactivation(family="preactivation", depth=164, block="bottleneck"), 1_703_258),
        (Preactivation(family="preactivation", depth=28, widen=10), 36_479_194),
        (Resnet(family="resnet", blocks=(2, 2, 2, 2)), 11_173_962),
        (Resnet(family="resnet", blocks=(3, 4, 6, 3), block="bottleneck"), 23_520_842),
        (Densenet(family="densenet", blocks=(6, 12, 24, 16)), 6_956_426),
    ],
)
def test_the_papers_nets_have_as_many_parameters_as_published(spec, count):
    """1.70 M for PreResNet-164 (He et al.), 36.5 M for WRN-28-10 (Zagoruyko and Komodakis).

    The others are torchvision's: of each the stem (9,408 there, 1,728 here) and what its last layer
    has for 1,000 classes are taken off (11,689,512, 25,557,032 and 7,978,856).
    """
    makes = {Preactivation: PreactivationNet, Resnet: resnet, Densenet: densenet}
    with torch.device("meta"):
        net = makes[type(spec)](spec, 3, 10)
    assert sum(parameter.numel() for parameter in net.parameters()) == count


@pytest.mark.parametrize(("block", "theirs"), [("basic", BasicBlock), ("bottleneck", Bottleneck)])
def test_a_residual_net_is_torchvisions_with_another_stem(block, theirs):
    """Give torchvision's net our stem and, in order, all our weights."""
    ours = resnet(Resnet(family="resnet", blocks=(2, 1, 1, 1), block=block), 3, OUTPUTS)
    whole = torchvision.models.ResNet(theirs, [2, 1, 1, 1], num_classes=OUTPUTS)
    whole.conv1, whole.maxpool = nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.Identity()
    whole.load_state_dict(dict(zip(whole.state_dict(), ours.state_dict().values(), strict=True)))
    images = normal(3, 3, 8, 8)
    torch.testing.assert_close(ours.double()(images), whole.double()(images))


@pytest.mark.parametrize(
    ("make", "spec", "stages"),
    [
        (resnet, Resnet(family="resnet", blocks=(1, 1), channels=4), "blocks"),
        (densenet, Densenet(family="densenet", blocks=(2, 2), growth=4, channels=8), "features"),
    ],
)
def test_two_stages_halve_the_side_once(make, spec, stages):
    net, sides = make(spec, 3, OUTPUTS), []
    net.get_submodule(stages).register_forward_hook(lambda _, x, y: sides.append(y.shape[2:]))
    assert net(torch.zeros(2, 3, 8, 8)).shape == (2, OUTPUTS)
    assert sides == [(4, 4)]


def test_a_block_without_effect_is_the_identity():
    for kind, channels in (("basic", 3), ("bottleneck", 12)):
        block, images = Block(channels, 3, 1, kind).double(), normal(2, channels, 4, 4)
        assert not torch.equal(block(images), images)
        nn.init.zeros_(block.convolutions[-1].weight)
        assert torch.equal(block(images), images)
    halved = Block(4, 3, 2, "basic").double()(normal(2, 4, 4, 4))
    assert halved.shape == (2, 3, 2, 2)


def test_weights_are_drawn_from_the_seed_alone():
    net = build_net(Preactivation(family="preactivation", depth=8, channels=2), (3, 8, 8), OUTPUTS)
    torch.manual_seed(7)
    first = net.initial((0, 1))
    state = torch.get_rng_state()
    second = net.initial((1,))
    assert torch.equal(torch.get_rng_state(), state)
    for name, value in second.items():
        assert torch.equal(value[0], first[name][1])
    other = net.initial((1,), "fresh weights")
    assert not torch.equal(other["fc.weight"], second["fc.weight"])


def test_the_plan_knows_the_layers():
    spec = Preactivation(family="preactivation", depth=8)
    net = build_net(spec, (3, 8, 8), OUTPUTS)
    assert spec.names("dense") == [layer.name for layer in net.dense_layers]
    assert {name.partition(".")[0] for name in net.shapes} == {*spec.names("dense", "module")}


def test_a_gradient_in_parts_is_the_gradient(monkeypatch):
    net = ModuleNet(normed_module, SHAPE, OUTPUTS)
    weights, images = random_weights(net), normal(1, 7, *SHAPE)
    w = torch.cat([weights[name].flatten(1) for name in net.shapes], dim=1)
    loss = MeanLoss(net, images, torch.arange(7).remainder(OUTPUTS).unsqueeze(0))
    whole, at_once = value_and_gradient(loss, w), loss(w)
    monkeypatch.setattr(modules, "NUMBERS", 3 * net._numbers)
    assert [part.labels.shape[1] for part, _ in loss.parts()] == [3, 3, 1]
    torch.testing.assert_close(value_and_gradient(loss, w), whole)
    torch.testing.assert_close(loss(w), at_once)
