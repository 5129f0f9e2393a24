"""Fully connected nets."""

from collections.abc import Iterator
from math import prod
from typing import Annotated, Literal

from pydantic import Field

from flatlas.plan.bounds import MOST_LAYERS, Width
from flatlas.plan.families.own import WeightsFile
from flatlas.plan.family import LayeredFamily, LayerSize, Probability, Shape, dense_sizes
from flatlas.plan.initializations import InitSpec, XavierUniform


class DenseNet(LayeredFamily):
    """A fully connected ReLU net of layers fc1, fc2, …"""

    family: Literal["dense"]
    hidden: Annotated[tuple[Width, ...], Field(max_length=MOST_LAYERS)]
    bias: bool = False
    dropout: Probability = 0.0
    init: InitSpec = XavierUniform(scheme="xavier_uniform")
    weights: WeightsFile | None = None
    """safetensors file with a `state_dict`, its layers in the order of their names"""

    def layer_sizes(self, input_shape: Shape, outputs: int) -> Iterator[LayerSize]:
        """From width to width."""
        return dense_sizes((prod(input_shape), *self.hidden, outputs))
