"""Residual nets."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from flatlas.plan.bounds import Depth, Width
from flatlas.plan.family import LayerSize, ModuleFamily, Shape, joined
from flatlas.plan.residual_sizes import residual_sizes


class Resnet(ModuleFamily):
    """A residual net with batch norm, for images of about 32 × 32.

    `blocks`: blocks of each stage. The first stage has `channels` channels, each later one twice as
    many. `[2, 2, 2, 2]` is ResNet-18, `[3, 4, 6, 3]` with `bottleneck` ResNet-50.
    """

    family: Literal["resnet"]
    blocks: tuple[Depth, ...] = Field(min_length=1, max_length=10)
    block: Literal["basic", "bottleneck"] = "basic"
    channels: Width = 64

    batch_norm = True

    @property
    def slug(self) -> str:
        """The blocks of each stage, as in 'resnet2x2x2x2'."""
        return joined(self.family, self.blocks)

    def layer_sizes(self, input_shape: Shape, outputs: int) -> Iterator[LayerSize]:
        """Each stage has twice the channels of the one before."""
        stages = [(blocks, self.channels * 2**stage) for stage, blocks in enumerate(self.blocks)]
        return residual_sizes(self.channels, stages, self.block, input_shape, outputs)
