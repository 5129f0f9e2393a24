"""Densely connected nets."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from flatlas.plan.bounds import Depth, Width
from flatlas.plan.family import LayerSize, ModuleFamily, Shape, joined

# Channels before a layer's 3 x 3 convolution, as a multiple of the growth.
NARROWING = 4


class Densenet(ModuleFamily):
    """A densely connected net with batch norm, for images of about 32 × 32.

    `blocks`: layers of each block. Each adds `growth` channels to the `channels` of the stem.
    `[6, 12, 24, 16]` is DenseNet-121.
    """

    family: Literal["densenet"]
    blocks: tuple[Depth, ...] = Field(min_length=1, max_length=10)
    growth: Width = 32
    channels: Width = 64

    batch_norm = True

    @property
    def slug(self) -> str:
        """The layers of each block, as in 'densenet6x12x24x16'."""
        return joined(self.family, self.blocks)

    def layer_sizes(self, input_shape: Shape, outputs: int) -> Iterator[LayerSize]:
        """A transition between two blocks halves the channels and the image's height and width."""
        channels, height, width = input_shape
        yield LayerSize(9 * channels * self.channels, height * width)
        channels = self.channels
        for block, count in enumerate(self.blocks):
            if block:
                yield LayerSize(channels * (channels // 2), height * width)
                channels, height, width = channels // 2, height // 2, width // 2
            for _ in range(count):
                yield LayerSize(channels * NARROWING * self.growth, height * width)
                yield LayerSize(9 * NARROWING * self.growth**2, height * width)
                channels += self.growth
        yield LayerSize(channels * outputs, places=1)
