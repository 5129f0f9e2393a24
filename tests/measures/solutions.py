"""Solutions of small nets with random weights and images; their losses and Hessians by autograd."""

from dataclasses import replace

import numpy as np
import torch
from torch import nn
from torch.autograd.functional import hessian

from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.measures.solution import Solution
from flatlas.nets import build_net
from flatlas.nets.loss import sample_losses
from flatlas.plan.families.convolutional import ConvolutionalNet, ConvolutionStage
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.families.preactivation import Preactivation
from flatlas.plan.initializations import HeNormal

SHAPE = (1, 6, 6)
TWO_STAGES = (
    ConvolutionStage(channels=3, kernel=2),
    ConvolutionStage(channels=4, kernel=3, padding=1, stride=2),
)
NETS = {
    "logistic": DenseNet(family="dense", hidden=(), bias=True),
    "one_hidden": DenseNet(family="dense", hidden=(6,)),
    "two_hidden": DenseNet(family="dense", hidden=(9, 6)),
    "biases": DenseNet(family="dense", hidden=(8, 5), bias=True),
    "deep": DenseNet(family="dense", hidden=(8, 7, 8, 6), bias=True),
    "he": DenseNet(
        family="dense",
        hidden=(8, 5),
        bias=True,
        init=HeNormal(scheme="he_normal", bias_std=0.5),
    ),
    "convolutional": ConvolutionalNet(
        family="convolutional",
        stages=(ConvolutionStage(channels=2, kernel=3, pool=2),),
        hidden=(8, 6),
    ),
    "two_convolutions": ConvolutionalNet(
        family="convolutional",
        stages=(
            ConvolutionStage(channels=3, kernel=3, padding=1, pool=2),
            ConvolutionStage(channels=4, kernel=3),
        ),
        hidden=(6,),
    ),
    "global_pool": ConvolutionalNet(
        family="convolutional", stages=TWO_STAGES, hidden=(6,), global_pool=True, bias=False
    ),
    "residual": Preactivation(family="preactivation", depth=8, channels=2),
}

# Layers at each depth, before and after which there may be convolutions.
LAYERS = [
    ("one_hidden", "fc1"),
    ("one_hidden", "fc2"),
    ("two_hidden", "fc2"),
    ("biases", "fc2"),
    ("deep", "fc1"),
    ("deep", "fc3"),
    ("deep", "fc5"),
    ("convolutional", "fc1"),
    ("convolutional", "fc3"),
]
# A few layers of each kind, with a number of outputs.
SOME_LAYERS = [
    ("one_hidden", "fc1", 3),
    ("two_hidden", "fc2", 1),
    ("biases", "fc3", 3),
    ("deep", "fc3", 3),
    ("convolutional", "fc1", 3),
    ("two_convolutions", "conv1", 3),
    ("global_pool", "conv2", 1),
]


def make_solution(
    net, outputs=3, images=40, test_images=25, seed=0, learners=1, shape=SHAPE, layer=None
):
    """A net of NETS with weights and biases from a normal distribution; outputs = 1 is binary.

    With several learners each has separate weights, and the solution is their mean. With a `layer`
    the solution has a recording of it.
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    def labels(count):
        return torch.arange(count).remainder(max(outputs, 2)).unsqueeze(0)

    layered = build_net(NETS[net], shape, outputs)
    mean = {name: 0.6 * normal(1, *shape) for name, shape in layered.shapes.items()}
    made = Solution(
        net=layered,
        seed=seed,
        parameters=mean,
        learners=mean,
        inputs=normal(1, images, *shape),
        labels=labels(images),
        clean=torch.ones(1, images, dtype=torch.bool),
        test_inputs=normal(1, test_images, *shape),
        test_labels=labels(test_images),
    )
    if learners > 1:
        apart = {name: 0.2 * normal(learners, *tensor.shape[1:]) for name, tensor in mean.items()}
        each = {name: mean[name] + shift - shift.mean(0) for name, shift in apart.items()}
        made = replace(made, learners=each)
    return with_recording(made, layer) if layer else made


def with_recording(solution, layer, steps=60):
    """The solution with a trajectory of one layer that ends at it, wide in some directions."""
    weights = solution.parameters[f"{layer}.weight"].flatten().numpy()
    rng = np.random.default_rng(0)
    mixed = rng.normal(size=(weights.size, weights.size)) * np.geomspace(1, 1e-2, weights.size)
    noise = 0.1 * rng.normal(size=(steps, weights.size)) @ mixed.T
    trajectory = (weights + noise - noise[-1]).astype(np.float32)
    return replace(solution, trajectory=trajectory)


def one_ended():
    """A solution with a recording of its last layer along which the loss grows on one side only.

    Larger weights of the last layer make right outputs more right.
    """
    made = make_solution("one_hidden")
    weight = made.parameters["fc2.weight"]
    right = (made.into("fc2", made.inputs) @ weight).argmax(-1)
    drift = weight.flatten().numpy() * np.linspace(0.9, 1, 20)[:, np.newaxis]
    return replace(made, labels=right, trajectory=drift.astype(np.float32))


def module_of(solution):
    """The same network in torch's own modules."""
    layers = [nn.Flatten()]
    for layer in solution.net.dense_layers:
        linear = nn.Linear(layer.inputs, layer.outputs, bias=layer.bias, dtype=torch.float64)
        with torch.no_grad():
            linear.weight.copy_(solution.parameters[f"{layer.name}.weight"][0].T)
            if layer.bias:
                linear.bias.copy_(solution.parameters[f"{layer.name}.bias"][0])
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def changed(solution, **weights):
    """The solution with other weights of some layers: fc2=w."""
    new = {f"{layer}.weight": weight for layer, weight in weights.items()}
    return replace(solution, parameters={**solution.parameters, **new})


def losses_of(solution, images=slice(None)):
    """The losses of training images (images,), by a forward pass from the pixels on."""
    logits = solution.net.forward(solution.parameters, solution.inputs[:, images])
    return sample_losses(logits, solution.labels[:, images]).squeeze(0)


def along(solution, layer):
    """The losses of training images as a function of a layer's flattened weights, and these."""
    weight = solution.parameters[f"{layer}.weight"]

    def losses(flat, images=slice(None)):
        return losses_of(changed(solution, **{layer: flat.reshape(weight.shape)}), images)

    return losses, weight.flatten()


def layer_hessian(solution, layer):
    """The Hessian of the mean training loss in the weights of a layer."""
    losses, weight = along(solution, layer)
    return hessian(lambda w: losses(w).mean(), weight, vectorize=True)


def whole_hessian(solution, images=slice(None)):
    """L over some training images as a function of all parameters w, w, and ∇∇L."""
    (w,) = flattened(solution.net, solution.parameters)
    loss = MeanLoss(solution.net, solution.inputs[:, images], solution.labels[:, images])
    return loss, w, hessian(loss, w, vectorize=True)


def partners_by_search(solution):
    """The position of each test image's partner: the nearest training image of its label."""
    train, test = solution.inputs[0].flatten(1), solution.test_inputs[0].flatten(1)
    for image, label in zip(test, solution.test_labels[0], strict=True):
        distance = (train - image).norm(dim=1)
        distance[(solution.labels[0] != label) | ~solution.clean[0]] = torch.inf
        yield int(distance.argmin())
