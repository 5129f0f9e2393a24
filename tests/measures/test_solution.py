"""A member's weights at a moment, and its images, out of a run's files."""

import numpy as np
import pytest
import torch

from flatlas.data.samples import Samples
from flatlas.errors import FlatlasError
from flatlas.measures import solution as room
from flatlas.measures.solution import load_solutions
from flatlas.nets import build_net
from flatlas.plan.families.dense import DenseNet

NET = build_net(DenseNet(family="dense", hidden=(3,)), (1, 2, 2), 2)


@pytest.fixture
def weights():
    """Three members at two moments, of which the checkpoint has four learners' weights too."""
    rng = np.random.default_rng(0)
    shapes = {"fc1.weight": (4, 3), "fc2.weight": (3, 2)}
    parts = {"final": (3,), "epoch-00001": (3,), "epoch-00001.learners": (3, 4)}
    return {
        f"{part}/{name}": rng.random((*members, *shape), dtype=np.float32)
        for part, members in parts.items()
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


def load(weights, moment, member, samples):
    (solution,) = load_solutions(weights, [moment], member, samples, NET, "cpu")
    return solution


@pytest.mark.parametrize("moment", ["final", "epoch-00001"])
def test_one_member_with_its_own_draw_in_float64(weights, samples, moment):
    solution = load(weights, moment, 1, samples.of(8))
    assert solution.seed == 8
    assert solution.parameters.keys() == NET.shapes.keys()
    for name, tensor in solution.parameters.items():
        assert tensor.dtype == torch.float64
        np.testing.assert_array_equal(tensor, weights[f"{moment}/{name}"][1:2])
    assert solution.inputs.dtype == solution.test_inputs.dtype == torch.float64
    for name in ("inputs", "labels", "clean", "test_inputs", "test_labels"):
        np.testing.assert_array_equal(getattr(solution, name), getattr(samples, name)[1:2])


def test_solutions_of_a_member_share_its_images(weights, samples):
    """A thousand checkpoints must not hold a thousand copies of them."""
    moments = ["epoch-00001", "final"]
    first, second = load_solutions(weights, moments, 1, samples.of(8), NET, "cpu")
    assert first.inputs is second.inputs and first.test_inputs is second.test_inputs
    for solution, moment in zip((first, second), moments, strict=True):
        np.testing.assert_array_equal(
            solution.parameters["fc1.weight"], weights[f"{moment}/fc1.weight"][1:2]
        )


def test_the_learners_of_a_member_have_weights_of_their_own(weights, samples):
    solution = load(weights, "epoch-00001", 2, samples.of(8))
    assert solution.learners.keys() == NET.shapes.keys()
    for name, tensor in solution.learners.items():
        assert tensor.dtype == torch.float64
        np.testing.assert_array_equal(tensor, weights[f"epoch-00001.learners/{name}"][2])


def test_a_training_without_learners_has_the_solution_as_its_only_one(weights, samples):
    solution = load(weights, "final", 1, samples.of(8))
    for name, tensor in solution.learners.items():
        np.testing.assert_array_equal(tensor, weights[f"final/{name}"][1:2])


def test_blocks_of_images_change_nothing(weights, samples, monkeypatch):
    solution = load(weights, "final", 0, samples.of(5))
    whole = solution.into("fc2", solution.inputs)
    monkeypatch.setattr(room, "IMAGES", 4)
    torch.testing.assert_close(solution.into("fc2", solution.inputs), whole)


@pytest.mark.parametrize("part", ["epoch-00001", "epoch-00001.learners"])
@pytest.mark.parametrize("wrong", ["missing", "shape", "member"])
def test_weights_of_another_run_are_refused(weights, samples, wrong, part):
    name, member = f"{part}/fc2.weight", 3 if wrong == "member" else 0
    if wrong == "missing":
        del weights[name]
    if wrong == "shape":
        weights[name] = weights[name][..., :1]
    with pytest.raises(FlatlasError, match=r"the weights hold .* 'epoch-00001(\.learners)?/fc"):
        load(weights, "epoch-00001", member, samples.of(5))
