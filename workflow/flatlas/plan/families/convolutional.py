"""LeNets and other small convolutional nets, with or without residual connections."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from flatlas.plan.bounds import MOST_LAYERS, BelowOne, Side, Width
from flatlas.plan.family import (
    Layer,
    LayeredFamily,
    LayerSize,
    Shape,
    dense_sizes,
    numbered_layers,
)
from flatlas.plan.initializations import InitSpec, XavierUniform
from flatlas.plan.spec import Spec


class ConvolutionStage(Spec):
    """A convolution, a ReLU and, if `pool` is above 1, max-pooling."""

    channels: Width
    """Output channels."""
    kernel: Side
    """Width, in pixels."""
    padding: Annotated[int, Field(ge=0, le=10**4)] = 0
    """Zeros around the image, in pixels."""
    stride: Side = 1
    """Step, in pixels."""
    pool: Side = 1
    """Width of max-pooling after the ReLU."""
    skip: bool = False
    """`true`: add the stage's input to the convolution's output."""


class ConvolutionalNet(LayeredFamily):
    """Convolution stages conv1, conv2, … and then dense layers fc1, fc2, …, at least one.

    `global_pool` averages the last channels over the image before the dense layers.
    """

    family: Literal["convolutional"]
    stages: tuple[ConvolutionStage, ...] = Field(min_length=1, max_length=MOST_LAYERS)
    hidden: Annotated[tuple[Width, ...], Field(max_length=MOST_LAYERS)] = ()
    global_pool: bool = False
    bias: bool = True
    dropout: BelowOne = 0.0
    init: InitSpec = XavierUniform(scheme="xavier_uniform")

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The convolutions, then the dense layers."""
        return numbered_layers("conv", "convolution", len(self.stages)) + super().layers

    @property
    def skipped_layers(self) -> tuple[str, ...]:
        """The convolutions of stages with `skip`."""
        convolutions = zip(self.names("convolution"), self.stages, strict=True)
        return tuple(name for name, stage in convolutions if stage.skip)

    def layer_sizes(self, input_shape: Shape, outputs: int) -> Iterator[LayerSize]:
        """A convolution's weights are used at every position of its output."""
        channels, height, width = input_shape
        for stage in self.stages:
            height, width = (
                max(0, (side + 2 * stage.padding - stage.kernel) // stage.stride + 1)
                for side in (height, width)
            )
            yield LayerSize(stage.kernel**2 * channels * stage.channels, height * width)
            channels, height, width = stage.channels, height // stage.pool, width // stage.pool
        features = channels * (1 if self.global_pool else height * width)
        yield from dense_sizes((features, *self.hidden, outputs))
