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
from flatlas.plan.trees import Location


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
        pixels = 0
        for stage, (channels, _, _), (_, height, width) in self._shapes(input_shape):
            yield LayerSize(stage.kernel**2 * channels * stage.channels, height * width)
            pixels = (height // stage.pool) * (width // stage.pool)
        features = self.stages[-1].channels * (min(pixels, 1) if self.global_pool else pixels)
        yield from dense_sizes((features, *self.hidden, outputs))

    def misfits(self, input_shape: Shape) -> Iterator[tuple[Location, str]]:
        """Stages that cannot add their input to their output."""
        for number, (stage, before, after) in enumerate(self._shapes(input_shape)):
            if stage.skip and before != after:
                yield (
                    ("stages", number),
                    f"can't skip: {before[0]} channels of side {before[1]} can't be added to "
                    f"{after[0]} of side {after[1]}. Choose channels, kernel, padding and stride "
                    "that keep both.",
                )

    def _shapes(self, input_shape: Shape) -> Iterator[tuple[ConvolutionStage, Shape, Shape]]:
        """Each stage, with the shape of its input and that of its output before the pooling."""
        channels, height, width = input_shape
        for stage in self.stages:
            before = channels, height, width
            height, width = (
                max(0, (side + 2 * stage.padding - stage.kernel) // stage.stride + 1)
                for side in (height, width)
            )
            yield stage, before, (stage.channels, height, width)
            channels, height, width = stage.channels, height // stage.pool, width // stage.pool
