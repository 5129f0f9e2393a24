"""Densely connected nets (Huang et al. 2017), torchvision's with a stem for small images."""

from torch import nn
from torchvision.models import DenseNet

from flatlas.nets.modules import ModuleNet
from flatlas.plan.families.densenet import Densenet


def build(spec: Densenet, input_shape: tuple[int, int, int], outputs: int) -> ModuleNet:
    """Blocks of layers that see all before them, between them transitions to half the side."""
    return ModuleNet(lambda: densenet(spec, input_shape[0], outputs), input_shape, outputs)


def densenet(spec: Densenet, channels: int, outputs: int) -> nn.Module:
    """Its stem is 3 x 3 and leaves images at their side, as in `resnet`."""
    net = DenseNet(spec.growth, spec.blocks, spec.channels, num_classes=outputs)
    stem = nn.Conv2d(channels, spec.channels, 3, padding=1, bias=False)
    nn.init.kaiming_normal_(stem.weight)
    net.features.set_submodule("conv0", stem)
    net.features.set_submodule("pool0", nn.Identity())
    return net
