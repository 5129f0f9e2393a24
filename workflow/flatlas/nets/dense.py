"""Fully connected ReLU nets."""

from itertools import pairwise
from math import prod

from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Dense
from flatlas.plan.families.dense import DenseNet


def build(spec: DenseNet, input_shape: tuple[int, int, int], outputs: int) -> LayeredNet:
    """A net of fc1, fc2, ... with a ReLU after each except the last."""
    layers = dense_layers((prod(input_shape), *spec.hidden, outputs), spec.bias)
    return LayeredNet(layers, spec.init, spec.dropout)


def dense_layers(widths: tuple[int, ...], bias: bool) -> list[Dense]:
    """The dense layers between these widths."""
    last = len(widths) - 1
    return [
        Dense(f"fc{number}", n_in, n_out, bias, relu=number < last)
        for number, (n_in, n_out) in enumerate(pairwise(widths), start=1)
    ]
