"""CIFAR-10: 60,000 colour photographs, 32 x 32, of ten classes."""

from pathlib import Path

from torchvision.datasets import CIFAR10

from flatlas.data.images import Images
from flatlas.data.sources.torchvision_sets import load_cifar
from flatlas.plan.data_specs import Cifar10


def load(spec: Cifar10, root: Path) -> Images:
    """The set in `root/cifar-10-batches-py`."""
    return load_cifar(CIFAR10, root)
