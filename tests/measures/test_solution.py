"""A member's weights and images, out of a run's files."""

import numpy as np
import pytest
import torch

from flatlas.data.samples import Samples
from flatlas.errors import FlatlasError
from flatlas.measures import solution as room
from flatlas.measures.solution import load_solution
from flatlas.nets import build_net
from flatlas.plan.net_specs import DenseNet

NET = build_net(DenseNet(family="dense", hidden=(3,)), (1, 2, 2), 2)


@pytest.fixture
def weights():
    """Three members, and a checkpoint that is not the solution."""
    rng = np.random.default_rng(0)
    shapes = {"fc1.weight": (3, 4, 3), "fc2.weight": (3, 3, 2)}
    parts = ("final", "epoch-0001")
    return {
        f"{part}/{name}": rng.random(shape, dtype=np.float32)
        for part in parts
        for name, shape in shapes.items()
    }


@pytest.fixture
def samples():
    """Two draws of six training and four test images."""
    rng = np.random.default_rng(1)
    return Samples(
        seeds=(5, 8),
        inputs=rng.random((2, 6, 1, 2, 2), dtype=np.float32),
        labels=rng.integers(0, 2, (2, 6)),
        clean=rng.random((2, 6)) < 0.5,
        test_inputs=rng.random((2, 4, 1, 2, 2), dtype=np.float32),
        test_labels=rng.integers(0, 2, (2, 4)),
    )


def test_one_member_with_its_own_draw_in_float64(weights, samples):
    solution = load_solution(weights, 1, samples.of(8), NET, "cpu")
    for name, tensor in solution.parameters.items():
        assert tensor.dtype == torch.float64
        np.testing.assert_array_equal(tensor, weights[f"final/{name}"][1:2])
    assert solution.inputs.dtype == solution.test_inputs.dtype == torch.float64
    for name in ("inputs", "labels", "clean", "test_inputs", "test_labels"):
        np.testing.assert_array_equal(getattr(solution, name), getattr(samples, name)[1:2])


def test_blocks_of_images_change_nothing(weights, samples, monkeypatch):
    solution = load_solution(weights, 0, samples.of(5), NET, "cpu")
    whole = solution.into("fc2", solution.inputs)
    monkeypatch.setattr(room, "IMAGES", 4)
    torch.testing.assert_close(solution.into("fc2", solution.inputs), whole)


@pytest.mark.parametrize("wrong", ["missing", "shape", "member"])
def test_weights_of_another_run_are_refused(weights, samples, wrong):
    if wrong == "missing":
        del weights["final/fc2.weight"]
    if wrong == "shape":
        weights["final/fc2.weight"] = weights["final/fc2.weight"][:, :, :1]
    with pytest.raises(FlatlasError, match=r"the weights hold .* 'final/fc"):
        load_solution(weights, 3 if wrong == "member" else 0, samples.of(5), NET, "cpu")
