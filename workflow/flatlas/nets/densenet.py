"""Densely connected nets (Huang et al. 2017): torchvision's, with a stem for small images."""

from torch import nn
from torchvision.models import DenseNet

from flatlas.nets.modules import ModuleNet
from flatlas.plan.families.densenet import Densenet


def build(spec: Densenet, input_shape: tuple[int, int, int], outputs: int) -> ModuleNet:
    """A net of densely connected blocks, with transitions to half the side between them."""
    return ModuleNet(
        lambda: densenet(spec, input_shape[0], outputs), input_shape, outputs, own=False
    )


def densenet(spec: Densenet, channels: int, outputs: int) -> nn.Module:
    """torchvision's net with a 3 x 3 stem that keeps the side of the images, as in `resnet`."""
    net = DenseNet(spec.growth, spec.blocks, spec.channels, num_classes=outputs)
    stem = nn.Conv2d(channels, spec.channels, 3, padding=1, bias=False)
    nn.init.kaiming_normal_(stem.weight)
    net.features.set_submodule("conv0", stem)
    net.features.set_submodule("pool0", nn.Identity())
    return net
