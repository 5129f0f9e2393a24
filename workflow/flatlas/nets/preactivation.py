"""Residual nets with pre-activation (He et al. 2016), also wide (Zagoruyko & Komodakis 2016).

Batch norm and ReLU come before each convolution. If a block changes the shape of its images, a 1 x
1 convolution replaces the skip connection, after the block's first batch norm and ReLU, as in the
programs of both papers.
"""

from torch import Tensor, nn

from flatlas.nets.modules import ModuleNet
from flatlas.plan.families.preactivation import Preactivation

# The layers of a block, and the ratio of its output channels to those inside.
LAYERS = {"basic": 2, "bottleneck": 3}
EXPANSION = {"basic": 1, "bottleneck": 4}


def build(spec: Preactivation, input_shape: tuple[int, int, int], outputs: int) -> ModuleNet:
    """Three stages with equal numbers of blocks; the second and the third halve the side."""
    return ModuleNet(
        lambda: PreactivationNet(spec, input_shape[0], outputs), input_shape, outputs, own=False
    )


class Block(nn.Module):
    """Two 3 x 3 convolutions, or one between two 1 x 1 ones, with a skip connection."""

    def __init__(self, inputs: int, inside: int, stride: int, kind: str) -> None:
        """`inside` is the number of channels between the convolutions."""
        super().__init__()
        outputs = EXPANSION[kind] * inside
        plan = [(3, stride), (3, 1)] if kind == "basic" else [(1, 1), (3, stride), (1, 1)]
        widths = [inputs, *[inside] * (len(plan) - 1), outputs]
        self.norms = nn.ModuleList(nn.BatchNorm2d(width) for width in widths[:-1])
        self.convolutions = nn.ModuleList(
            _convolution(widths[n], widths[n + 1], *one) for n, one in enumerate(plan)
        )
        same = inputs == outputs and stride == 1
        self.shortcut = None if same else _convolution(inputs, outputs, 1, stride)

    def forward(self, images: Tensor) -> Tensor:
        """The sum of both branches."""
        activity = self.norms[0](images).relu()
        skipped = images if self.shortcut is None else self.shortcut(activity)
        activity = self.convolutions[0](activity)
        for norm, convolution in zip(self.norms[1:], self.convolutions[1:], strict=True):
            activity = convolution(norm(activity).relu())
        return activity + skipped


class PreactivationNet(nn.Module):
    """A convolution, three stages of blocks, batch norm, the mean over the image, a dense layer."""

    def __init__(self, spec: Preactivation, channels: int, outputs: int) -> None:
        """Convolutions start as in He et al. (2015), everything else as in torch."""
        super().__init__()
        # 2 or 4 layers are outside the blocks; the two papers count differently.
        blocks = spec.depth // (3 * LAYERS[spec.block])
        width, expansion = spec.channels, EXPANSION[spec.block]
        self.stem = _convolution(channels, width, 3, 1)
        stages: list[nn.Module] = []
        for stage in range(3):
            inside = spec.channels * spec.widen * 2**stage
            for number in range(blocks):
                stride = 2 if stage and not number else 1
                stages.append(Block(width, inside, stride, spec.block))
                width = expansion * inside
        self.blocks = nn.Sequential(*stages)
        self.norm = nn.BatchNorm2d(width)
        self.fc = nn.Linear(width, outputs)
        for part in self.modules():
            if isinstance(part, nn.Conv2d):
                nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: Tensor) -> Tensor:
        """Logits."""
        activity = self.norm(self.blocks(self.stem(images))).relu()
        logits: Tensor = self.fc(activity.mean((2, 3)))
        return logits


def _convolution(inputs: int, outputs: int, kernel: int, stride: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)
