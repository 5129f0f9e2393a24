"""The two kinds of layer, acting on a whole stack of members at once."""

from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor
from torch.nn import functional

Parameters = dict[str, Tensor]


@dataclass(frozen=True)
class Dense:
    """z = a W + b with W of shape (n_in, n_out), as in W (H1 x H2) of the duality paper."""

    name: str
    inputs: int
    outputs: int
    bias: bool
    relu: bool
    dropout: float = 0.0
    """The share of its outputs that training drops."""

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each parameter of one member."""
        shapes: dict[str, tuple[int, ...]] = {f"{self.name}.weight": (self.inputs, self.outputs)}
        return {**shapes, f"{self.name}.bias": (self.outputs,)} if self.bias else shapes

    @property
    def fans(self) -> tuple[int, int]:
        """n_in and n_out, for the initialization."""
        return self.inputs, self.outputs

    def preactivation(self, parameters: Parameters, activity: Tensor) -> Tensor:
        """Activity (members, batch, n_in) to pre-activation (members, batch, n_out)."""
        weight = parameters[f"{self.name}.weight"]
        if self.bias:
            return torch.baddbmm(parameters[f"{self.name}.bias"].unsqueeze(1), activity, weight)
        return torch.bmm(activity, weight)

    def product(self, activity: Tensor, weights: Tensor) -> Tensor:
        """The products of one member's activity with each of n weights (n, n_in, n_out)."""
        return activity @ weights

    def forward(self, parameters: Parameters, activity: Tensor) -> Tensor:
        """The activity that leaves the layer."""
        return self.activity(self.preactivation(parameters, activity))

    def activity(self, z: Tensor) -> Tensor:
        """The activity for given pre-activations."""
        return z.relu() if self.relu else z


@dataclass(frozen=True)
class Convolution:
    """A convolution, a ReLU and, with `pool` above 1, a max-pooling.

    With `skip` it is a residual stage: the input images are added before the ReLU.
    """

    name: str
    inputs: int
    outputs: int
    kernel: int
    padding: int
    stride: int
    pool: int
    bias: bool
    skip: bool = False

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each parameter of one member."""
        kernel = (self.outputs, self.inputs, self.kernel, self.kernel)
        shapes: dict[str, tuple[int, ...]] = {f"{self.name}.weight": kernel}
        return {**shapes, f"{self.name}.bias": (self.outputs,)} if self.bias else shapes

    @property
    def fans(self) -> tuple[int, int]:
        """n_in and n_out, for the initialization."""
        return self.inputs * self.kernel**2, self.outputs * self.kernel**2

    def side(self, side: int) -> int:
        """The side of the output images, for input images of this side."""
        return self.convolved_side(side) // self.pool

    def convolved_side(self, side: int) -> int:
        """The side before the pooling."""
        return (side + 2 * self.padding - self.kernel) // self.stride + 1

    def preactivation(self, parameters: Parameters, images: Tensor) -> Tensor:
        """Images (members, batch, channels, height, width) to z; members are groups."""
        members = len(images)
        # A single member's images keep their layout in memory.
        grouped = images[0] if members == 1 else images.transpose(0, 1).flatten(1, 2)
        bias = parameters[f"{self.name}.bias"].flatten() if self.bias else None
        convolved = functional.conv2d(
            grouped,
            parameters[f"{self.name}.weight"].flatten(0, 1),
            bias,
            stride=self.stride,
            padding=self.padding,
            groups=members,
        )
        return convolved.unflatten(1, (members, self.outputs)).transpose(0, 1)

    def product(self, images: Tensor, weights: Tensor) -> Tensor:
        """The products of one member's images with each of n kernels (n, n_out, n_in, k, k)."""
        kernels = weights.flatten(0, 1)
        made = functional.conv2d(images[0], kernels, stride=self.stride, padding=self.padding)
        return made.unflatten(1, (len(weights), self.outputs)).transpose(0, 1)

    def forward(self, parameters: Parameters, images: Tensor) -> Tensor:
        """The images that leave the layer."""
        z = self.preactivation(parameters, images)
        return self.activity(z + images if self.skip else z)

    def activity(self, z: Tensor) -> Tensor:
        """The activity for pre-activations (members, batch, channels, height, width)."""
        # Pooling comes first, because it leaves fewer numbers for the ReLU.
        return (max_pooled(z, self.pool) if self.pool > 1 else z).relu()


def max_pooled(images: Tensor, size: int) -> Tensor:
    """The largest number in each square of `size` pixels of images (…, height, width).

    In torch's inference mode the maximum is taken over slices, which is several times as fast on a
    CPU. Elsewhere it is not, because at ties its derivatives would differ from those of torch's
    pooling.
    """
    if not torch.is_inference_mode_enabled():
        pooled = functional.max_pool2d(images.flatten(0, -4), size)
        return pooled.unflatten(0, images.shape[:-3])
    height, width = (side // size * size for side in images.shape[-2:])
    slices = [
        images[..., row:height:size, column:width:size]
        for row in range(size)
        for column in range(size)
    ]
    return reduce(torch.maximum, slices)


def channels_last(images: Tensor) -> Tensor:
    """The same numbers, with each row of the stack stored as (batch, height, width, channels)."""
    _, batch, channels, height, width = images.shape
    pixels = channels * height * width
    # By strides, because torch takes images of a single channel for channels first if it may.
    strides = (batch * pixels, pixels, 1, width * channels, channels)
    return images.movedim(2, -1).contiguous().as_strided(images.shape, strides)


Layer = Dense | Convolution
