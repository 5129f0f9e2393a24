"""Small nets with random weights and images, and their Hessians by automatic differentiation."""

import torch

from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.nets import build_net
from flatlas.plan.families.convolutional import ConvolutionalNet, ConvolutionStage
from flatlas.plan.families.dense import DenseNet

SHAPE = (1, 6, 6)
DENSE = {
    "logistic": DenseNet(family="dense", hidden=(), bias=True),
    "one_hidden": DenseNet(family="dense", hidden=(6,)),
    "two_hidden": DenseNet(family="dense", hidden=(7, 5), bias=True),
    "deep": DenseNet(family="dense", hidden=(4, 6, 3, 5), bias=True),
}
CONVOLUTIONAL = {
    "pooled": ConvolutionalNet(
        family="convolutional",
        stages=(ConvolutionStage(channels=2, kernel=3, pool=2),),
        hidden=(5,),
    ),
    "global_pool": ConvolutionalNet(
        family="convolutional",
        stages=(
            ConvolutionStage(channels=3, kernel=2),
            ConvolutionStage(channels=4, kernel=3, padding=1, stride=2),
        ),
        hidden=(),
        global_pool=True,
        bias=False,
    ),
}


def system(name, outputs, images=30, seed=0):
    """A net, its weights, images and labels, as the Hessians take them."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    net = build_net({**DENSE, **CONVOLUTIONAL}[name], SHAPE, outputs)
    parameters = {key: 0.6 * normal(1, *shape) for key, shape in net.shapes.items()}
    labels = torch.arange(images).remainder(max(outputs, 2)).unsqueeze(0)
    return net, parameters, normal(1, images, *SHAPE), labels


def full_hessian(net, parameters, inputs, labels):
    """The whole matrix, row by row."""
    (w,) = flattened(net, parameters)
    return torch.autograd.functional.hessian(MeanLoss(net, inputs, labels), w)


def whole(hessian):
    """The whole matrix, from products with unit vectors."""
    return hessian.product(torch.eye(hessian.size, dtype=torch.float64))
