"""One member's training written out: its shuffles, its gradients by autograd, its steps."""

import torch
from torch.nn import functional

from flatlas.nets import build_net
from flatlas.seeds import stream


def shuffles(seed, count, purpose="shuffling"):
    """The order of the images in each epoch, one after the other."""
    generator = torch.Generator().manual_seed(stream(seed, purpose))
    while True:
        yield torch.randperm(count, generator=generator)


def start(spec, seed):
    """The net, and its initial weights."""
    net = build_net(spec.net, spec.input_shape, spec.outputs)
    return net, {name: value[0] for name, value in net.initial((seed,)).items()}


def loss_gradient(net, weights, images, labels):
    """The gradient of the mean cross-entropy of some images."""
    leaves = {name: value.clone().requires_grad_() for name, value in weights.items()}
    stack = {name: value.unsqueeze(0) for name, value in leaves.items()}
    logits = net.forward(stack, torch.as_tensor(images).unsqueeze(0))[0]
    functional.cross_entropy(logits, torch.as_tensor(labels)).backward()
    return {name: value.grad for name, value in leaves.items()}


def sgd(spec, data, seed, weights=None, purpose="shuffling"):
    """The weights after all epochs of SGD; `data` has the samples of this seed alone."""
    net, initial = start(spec, seed)
    weights, frozen = weights or initial, spec.frozen or ()
    inputs, labels = torch.from_numpy(data.inputs[0]), torch.from_numpy(data.labels[0])
    orders = shuffles(seed, len(labels), purpose)
    for _ in range(spec.stop.epochs):
        for chosen in next(orders).split(len(labels) if spec.batch == "full" else spec.batch):
            slope = loss_gradient(net, weights, inputs[chosen], labels[chosen])
            for name in weights:
                if name.partition(".")[0] not in frozen:
                    weights[name] = weights[name] - spec.optimizer.lr * slope[name]
    return weights
