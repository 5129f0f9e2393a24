"""A member's weights at a moment, and its images, from a run's files."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from flatlas.data.samples import Samples
from flatlas.errors import FlatlasError
from flatlas.measures import solution as module
from flatlas.measures.extra_inputs import ExtraInputs
from flatlas.measures.solution import load_solutions
from flatlas.nets import build_net
from flatlas.plan.families.dense import DenseNet

NET = build_net(DenseNet(family="dense", hidden=(3,)), (1, 2, 2), 2)


@pytest.fixture
def weights():
    """Three members at two moments; the checkpoint also has the weights of four learners."""
    rng = np.random.default_rng(0)
    shapes = {"fc1.weight": (4, 3), "fc2.weight": (3, 2)}
    parts = {"final": (3,), "epoch-00001": (3,), "epoch-00001.learners": (3, 4)}
    return {
        f"{part}/{name}": rng.random((*members, *shape), dtype=np.float32)
        for part, members in parts.items()
        for name, shape in shapes.items()
    }


@pytest.fixture(scope="module")
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


def load(weights, samples, *moments, member=1):
    return [*load_solutions(weights, moments, member, samples.of(8), NET, "cpu")]


def assert_weights(found, weights, moment, members):
    assert found.keys() == NET.shapes.keys()
    for name, tensor in found.items():
        assert tensor.dtype == torch.float64
        np.testing.assert_array_equal(tensor, weights[f"{moment}/{name}"][members])


def test_solutions_have_float64_weights_and_share_their_images(weights, samples):
    """A thousand checkpoints must not hold a thousand copies of the images."""
    moments = ["epoch-00001", "final"]
    solutions = load(weights, samples, *moments)
    for solution, moment in zip(solutions, moments, strict=True):
        assert solution.seed == 8
        assert_weights(solution.parameters, weights, moment, slice(1, 2))
    first, last = solutions
    assert first.inputs is last.inputs and first.test_inputs is last.test_inputs
    assert first.inputs.dtype == first.test_inputs.dtype == torch.float64
    for name in ("inputs", "labels", "clean", "test_inputs", "test_labels"):
        np.testing.assert_array_equal(getattr(first, name), getattr(samples, name)[1:2])


def test_learners_have_separate_weights_if_there_are_any(weights, samples):
    """Without learners the solution is the only one."""
    checkpoint, final = load(weights, samples, "epoch-00001", "final", member=2)
    assert_weights(checkpoint.learners, weights, "epoch-00001.learners", 2)
    assert_weights(final.learners, weights, "final", slice(2, 3))


def test_blocks_of_images_change_nothing(weights, samples, monkeypatch):
    (solution,) = load(weights, samples, "final")
    whole = solution.into("fc2", solution.inputs)
    monkeypatch.setattr(module, "IMAGES", 4)
    torch.testing.assert_close(solution.into("fc2", solution.inputs), whole)


@pytest.mark.parametrize("part", ["epoch-00001", "epoch-00001.learners"])
@pytest.mark.parametrize("wrong", ["missing", "shape", "member"])
def test_weights_of_another_run_are_refused(weights, samples, wrong, part):
    name, member = f"{part}/fc2.weight", 3 if wrong == "member" else 0
    if wrong == "missing":
        del weights[name]
    if wrong == "shape":
        weights[name] = weights[name][..., :1]
    with pytest.raises(FlatlasError, match=r"the weights have .* 'epoch-00001(\.learners)?/fc"):
        load(weights, samples, "epoch-00001", member=member)


@pytest.mark.parametrize(("draws", "of_second"), [(2, 1), (1, 0)])
def test_each_realization_has_its_own_recording_and_the_kernel_of_its_draw(
    tmp_path, draws, of_second
):
    files = SimpleNamespace(trajectory=tmp_path / "t.npy", kernel=tmp_path / "k.npy")
    recordings, kernels = np.arange(24.0).reshape(2, 3, 4), np.arange(4.0 * draws).reshape(-1, 2, 2)
    np.save(files.trajectory, recordings)
    np.save(files.kernel, kernels)
    found = ExtraInputs(files, run=None).of(member=1, seed=8)
    np.testing.assert_array_equal(found["trajectory"], recordings[1])
    np.testing.assert_array_equal(found["kernel"], kernels[of_second])
