"""Fully connected nets."""

from collections.abc import Iterator
from math import prod
from typing import Literal

from pydantic import PositiveInt

from flatlas.plan.family import (
    Family,
    Layer,
    LayerSize,
    Probability,
    Shape,
    dense_sizes,
    joined,
    numbered_layers,
)
from flatlas.plan.initializations import InitSpec, XavierUniform


class DenseNet(Family):
    """A fully connected ReLU net of layers fc1, fc2, …"""

    family: Literal["dense"]
    hidden: tuple[PositiveInt, ...]
    bias: bool = False
    dropout: Probability = 0.0
    init: InitSpec = XavierUniform(scheme="xavier_uniform")

    @property
    def slug(self) -> str:
        """The hidden widths, as in 'dense30x30'."""
        return joined(self.family, self.hidden)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """One after each hidden width, and the last."""
        return numbered_layers("fc", "dense", len(self.hidden) + 1)

    def layer_sizes(self, input_shape: Shape, outputs: int) -> Iterator[LayerSize]:
        """From width to width."""
        return dense_sizes((prod(input_shape), *self.hidden, outputs))
