"""Residual nets with pre-activation, including wide ones."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from flatlas.plan.bounds import MOST_LAYERS, Width
from flatlas.plan.family import LayerSize, ModuleFamily, Shape
from flatlas.plan.residual_sizes import residual_sizes


class Preactivation(ModuleFamily):
    """A residual net with pre-activation and batch norm: PreResNet or WideResNet.

    n blocks in each of three stages: `depth` is 6n + 2 or, as WideResNets count, 6n + 4 for
    `basic`, 9n + 2 for `bottleneck`. The first stage has `channels` times `widen` channels.
    """

    family: Literal["preactivation"]
    depth: Annotated[int, Field(ge=8, le=9 * MOST_LAYERS)]
    block: Literal["basic", "bottleneck"] = "basic"
    widen: Width = 1
    channels: Width = 16

    batch_norm = True

    @model_validator(mode="after")
    def _depth_is_of_whole_blocks(self) -> "Preactivation":
        step, outside = (6, (2, 4)) if self.block == "basic" else (9, (2,))
        if self.depth % step not in outside:
            forms = " or ".join(f"{step}n + {one}" for one in outside)
            raise ValueError(f"a net of {self.block} blocks has a depth of {forms}")
        return self

    @property
    def slug(self) -> str:
        """Depth and width, as in 'preactivation28x10'."""
        wide = f"x{self.widen}" if self.widen > 1 else ""
        return f"{self.family}{self.depth}{wide}"

    def layer_sizes(self, input_shape: Shape, outputs: int) -> Iterator[LayerSize]:
        """Three stages of equally many blocks."""
        blocks = self.depth // (6 if self.block == "basic" else 9)
        stages = [(blocks, self.channels * self.widen * 2**stage) for stage in range(3)]
        return residual_sizes(self.channels, stages, self.block, input_shape, outputs)
