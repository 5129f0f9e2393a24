"""Residual nets (He et al. 2016) of torchvision's blocks, with a stem for small images."""

from collections import OrderedDict

from torch import nn
from torchvision.models.resnet import BasicBlock, Bottleneck

from flatlas.nets.modules import ModuleNet
from flatlas.plan.families.resnet import Resnet

BLOCKS = {"basic": BasicBlock, "bottleneck": Bottleneck}


def build(spec: Resnet, input_shape: tuple[int, int, int], outputs: int) -> ModuleNet:
    """Stages of blocks; each except the first has half the side and twice the channels."""
    return ModuleNet(lambda: resnet(spec, input_shape[0], outputs), input_shape, outputs, own=False)


def resnet(spec: Resnet, channels: int, outputs: int) -> nn.Module:
    """A net of torchvision's blocks; torchvision's net always has four stages, of 64+ channels.

    The 3 x 3 stem keeps the side of the images; torchvision's 7 x 7 stem with pooling leaves a
    quarter of it.
    """
    stem = nn.Conv2d(channels, spec.channels, 3, padding=1, bias=False)
    blocks: list[nn.Module] = []
    width, kind = spec.channels, BLOCKS[spec.block]
    for stage, number_of_blocks in enumerate(spec.blocks):
        inside = spec.channels * 2**stage
        for number in range(number_of_blocks):
            stride = 2 if stage and not number else 1
            outside = kind.expansion * inside
            blocks.append(kind(width, inside, stride, _shortcut(width, outside, stride)))
            width = outside
    parts: dict[str, nn.Module] = {
        "stem": stem,
        "norm": nn.BatchNorm2d(spec.channels),
        "relu": nn.ReLU(),
        "blocks": nn.Sequential(*blocks),
        "pool": nn.AdaptiveAvgPool2d(1),
        "flatten": nn.Flatten(),
        "fc": nn.Linear(width, outputs),
    }
    net = nn.Sequential(OrderedDict(parts))
    for part in net.modules():
        if isinstance(part, nn.Conv2d):
            nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")
    return net


def _shortcut(inputs: int, outputs: int, stride: int) -> nn.Module | None:
    """The shortcut past a block: it gives its images the shape of the block's output."""
    if inputs == outputs and stride == 1:
        return None
    convolution = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs))
