"""Untrained nets on images of noise: a pass costs the same as with real ones."""

import torch
from torch import Tensor

from flatlas.measures.solution import Solution
from flatlas.nets import build_net
from flatlas.plan.families.dense import DenseNet


def random_solution(hidden: tuple[int, int], images: int, test_images: int = 1) -> Solution:
    """A dense net with random weights, and images of MNIST's shape with its ten labels."""
    generator = torch.Generator().manual_seed(0)
    net = build_net(DenseNet(family="dense", hidden=hidden), (1, 28, 28), 10)

    def pixels(count: int) -> Tensor:
        return torch.rand(1, count, 1, 28, 28, generator=generator, dtype=torch.float64)

    parameters = {name: tensor.double() for name, tensor in net.initial([0]).items()}
    return Solution(
        net=net,
        seed=0,
        parameters=parameters,
        learners=parameters,
        inputs=pixels(images),
        labels=torch.arange(images).remainder(10).unsqueeze(0),
        clean=torch.ones(1, images, dtype=torch.bool),
        test_inputs=pixels(test_images),
        test_labels=torch.arange(test_images).remainder(10).unsqueeze(0),
    )
