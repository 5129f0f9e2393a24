"""Specs of small nets, and stacks of them with weights and images."""

import torch

from flatlas.nets import build_net
from flatlas.plan.families.convolutional import ConvolutionalNet
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.initializations import FrameworkUniform

# PyTorch's own initialization: its biases are not zero.
INIT = FrameworkUniform(scheme="framework_uniform")


def dense(*hidden, init=INIT, **values):
    return DenseNet(family="dense", hidden=hidden, init=init, **values)


def convolutional(*stages, init=INIT, **values):
    return ConvolutionalNet(family="convolutional", stages=stages, init=init, **values)


def stacked(spec, input_shape, outputs):
    """A net in float64 with three members, their weights, and seven images for each."""
    net = build_net(spec, input_shape, outputs)
    parameters = {name: value.double() for name, value in net.initial((3, 1, 2)).items()}
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(3, 7, *input_shape, generator=generator, dtype=torch.float64)
    return net, parameters, images
