"""CIFAR-100: 60,000 colour photographs, 32 x 32, of a hundred classes."""

from pathlib import Path

from torchvision.datasets import CIFAR100

from flatlas.data.images import Images
from flatlas.data.sources.torchvision_sets import load_cifar
from flatlas.plan.data_specs import Cifar100


def load(spec: Cifar100, root: Path) -> Images:
    """The set in `root/cifar-100-python`."""
    return load_cifar(CIFAR100, root)
