"""Fully connected nets."""

from collections.abc import Iterator
from math import prod
from typing import Annotated, Literal

from pydantic import Field, model_validator

from flatlas.plan.bounds import MOST_LAYERS, BelowOne, Width
from flatlas.plan.families.own import WeightsFile
from flatlas.plan.family import LayeredFamily, LayerSize, Shape, dense_sizes
from flatlas.plan.initializations import InitSpec, XavierUniform
from flatlas.plan.spec import Distinct, InOrder


class DenseNet(LayeredFamily):
    """A fully connected ReLU net of layers fc1, fc2, …"""

    family: Literal["dense"]
    hidden: Annotated[tuple[Width, ...], Field(max_length=MOST_LAYERS)]
    bias: bool = False
    dropout: BelowOne = 0.0
    dropout_after: Annotated[tuple[str, ...], Field(min_length=1), Distinct, InOrder] | None = None
    """hidden layers whose outputs have dropout; default: all"""
    init: InitSpec = XavierUniform(scheme="xavier_uniform")
    weights: WeightsFile | None = None
    """safetensors file with a `state_dict`, its layers in the order of their names"""

    @model_validator(mode="after")
    def _drops_hidden_layers(self) -> "DenseNet":
        hidden = self.names("dense")[:-1]
        for name in self.dropout_after or ():
            if name not in hidden:
                raise ValueError(
                    f"dropout_after names '{name}'. Allowed: {', '.join(hidden) or 'none'}"
                )
        if self.dropout_after and not self.dropout:
            raise ValueError("dropout_after is given, but dropout is 0: leave it out")
        if self.dropout_after and len(self.dropout_after) == len(hidden):
            raise ValueError("dropout_after names all hidden layers: leave it out")
        return self

    def layer_sizes(self, input_shape: Shape, outputs: int) -> Iterator[LayerSize]:
        """From width to width."""
        return dense_sizes((prod(input_shape), *self.hidden, outputs))
