"""Solutions of small nets with random weights and images."""

from dataclasses import replace

import pytest
import torch

from flatlas.measures.solution import Solution
from flatlas.nets import build_net
from flatlas.plan.families.convolutional import ConvolutionalNet, ConvolutionStage
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.families.preactivation import Preactivation

SHAPE = (1, 6, 6)
NETS = {
    "one_hidden": DenseNet(family="dense", hidden=(6,)),
    "two_hidden": DenseNet(family="dense", hidden=(9, 6)),
    "biases": DenseNet(family="dense", hidden=(8, 5), bias=True),
    "deep": DenseNet(family="dense", hidden=(8, 7, 8, 6), bias=True),
    "convolutional": ConvolutionalNet(
        family="convolutional",
        stages=(ConvolutionStage(channels=2, kernel=3, pool=2),),
        hidden=(8, 6),
    ),
    "two_convolutions": ConvolutionalNet(
        family="convolutional",
        stages=(
            ConvolutionStage(channels=3, kernel=3, padding=1, pool=2),
            ConvolutionStage(channels=4, kernel=3),
        ),
        hidden=(6,),
    ),
    "global_pool": ConvolutionalNet(
        family="convolutional",
        stages=(
            ConvolutionStage(channels=3, kernel=2),
            ConvolutionStage(channels=4, kernel=3, padding=1, stride=2),
        ),
        hidden=(6,),
        global_pool=True,
        bias=False,
    ),
    "residual": Preactivation(family="preactivation", depth=8, channels=2),
}


def random_solution(net, outputs=3, images=40, test_images=25, seed=0, learners=1):
    """A net of NETS with weights and biases from a normal distribution; outputs = 1 is binary.

    With several learners each has its own weights, around the solution as their mean.
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    def labels(count):
        return torch.arange(count).remainder(max(outputs, 2)).unsqueeze(0)

    layered = build_net(NETS[net], SHAPE, outputs)
    mean = {name: 0.6 * normal(1, *shape) for name, shape in layered.shapes.items()}
    alone = Solution(
        net=layered,
        seed=seed,
        parameters=mean,
        learners=mean,
        inputs=normal(1, images, *SHAPE),
        labels=labels(images),
        clean=torch.ones(1, images, dtype=torch.bool),
        test_inputs=normal(1, test_images, *SHAPE),
        test_labels=labels(test_images),
    )
    apart = {name: 0.2 * normal(learners, *tensor.shape[1:]) for name, tensor in mean.items()}
    return replace(
        alone,
        learners={name: mean[name] + shift - shift.mean(0) for name, shift in apart.items()},
    )


@pytest.fixture(scope="session")
def make_solution():
    """The function that makes solutions."""
    return random_solution
