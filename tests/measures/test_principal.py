"""Principal directions of a trajectory against scikit-learn, and of one known in closed form."""

import numpy as np
import pytest
import torch
from scipy.linalg import hadamard
from sklearn.decomposition import PCA
from solutions import make_solution

from flatlas.errors import FlatlasError
from flatlas.measures import principal as module
from flatlas.measures.principal import principal, principal_of, projections

CPU = torch.device("cpu")


def walk(steps, weights):
    """A random walk around weights that are not 0; each weight has another step size."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(steps, weights)) * np.geomspace(1, 1e-3, weights)
    return (3 + noise.cumsum(0)).astype(np.float32)


@pytest.mark.parametrize(("steps", "weights"), [(90, 40), (25, 40), (41, 40), (40, 40)])
def test_principal_components_are_those_of_scikit_learn(steps, weights, monkeypatch):
    """Its variances divide by T − 1; ours have signs by which every θ ends above its start."""
    monkeypatch.setattr(module, "STEPS", 13)
    trajectory = walk(steps, weights)
    found = principal(trajectory, CPU)
    expected = PCA(svd_solver="full").fit(trajectory.astype(float))
    count = min(steps - 1, weights)
    assert found.directions.shape == (count, weights)
    variances = expected.explained_variance_[:count] * (steps - 1) / steps
    np.testing.assert_allclose(found.variances, variances, rtol=1e-9)
    np.testing.assert_allclose(found.mean, expected.mean_, rtol=1e-12)
    overlaps = np.abs((found.directions.numpy() * expected.components_[:count]).sum(1))
    np.testing.assert_allclose(overlaps, 1, rtol=1e-10)
    theta = projections(trajectory, found)
    assert (theta[-1] > theta[0]).all()
    centred = trajectory - trajectory.mean(0, dtype=float)
    np.testing.assert_allclose(theta, centred @ found.directions.numpy().T, atol=1e-10)


def test_the_tail_far_below_the_weights():
    """Squares of a Hadamard matrix's columns: σ_i = 2⁻ⁱ⁻⁴, down to 10⁻⁶ of the weights, exactly."""
    sizes = 2.0 ** -np.arange(5, 17)
    patterns = hadamard(64)[:, 1:13] * sizes
    trajectory = (1 + patterns).astype(np.float32)
    np.testing.assert_array_equal(trajectory - 1, patterns)
    found = principal(trajectory, CPU)
    np.testing.assert_allclose(found.variances, sizes**2, rtol=1e-9)
    np.testing.assert_allclose(found.directions.abs(), np.eye(12), atol=1e-9)


def test_a_reversed_trajectory_has_reversed_directions_and_a_small_residual():
    """The residual is compared with NumPy's covariance of the whole trajectory at once."""
    trajectory = walk(90, 20)
    found, back = (principal(each, CPU) for each in (trajectory, trajectory[::-1]))
    torch.testing.assert_close(back.directions, -found.directions, rtol=0, atol=1e-9)
    covariance = np.cov(trajectory.T.astype(float), bias=True)
    off = covariance @ found.directions.numpy().T - (found.directions.T * found.variances).numpy()
    assert np.linalg.norm(off, axis=0).max() < 1e-13 * found.variances[0]
    assert 0 < found.residual.max() < 1e-13


def test_weights_that_never_move_have_no_variance():
    trajectory = walk(90, 20)
    trajectory[:, 7:] = 0.5
    found = principal(trajectory, CPU)
    assert (found.variances >= 0).all()
    assert found.variances[7:].max() < 1e-12 * found.variances[0]


def test_a_solution_takes_the_first_directions_of_its_recording(tmp_path):
    solution = make_solution("two_hidden", layer="fc2")
    np.save(tmp_path / "trajectory.npy", solution.trajectory)
    on_disk = np.load(tmp_path / "trajectory.npy", mmap_mode="r", allow_pickle=False)
    object.__setattr__(solution, "trajectory", on_disk)
    whole, first = principal_of(solution, "fc2"), principal_of(solution, "fc2", 5)
    assert len(whole.variances) == 54
    torch.testing.assert_close(first.directions, whole.directions[:5], rtol=0, atol=0)
    matrices = [*first.matrices((9, 6))]
    assert matrices[0].shape == (9, 6)
    assert matrices[2][4, 1] == whole.directions[2, 4 * 6 + 1]


@pytest.mark.parametrize(
    ("recorded", "layer", "count", "said"),
    [
        ("fc2", "fc3", 5, "18 weights of 'fc3' need a trajectory, but there is one of 54 weights"),
        ("fc2", "fc2", 55, "directions is 55, but the trajectory of 'fc2' has 54"),
        (None, "fc2", 5, "there is none: train with snapshots: fc2"),
    ],
)
def test_directions_without_a_recording_are_refused(recorded, layer, count, said):
    with pytest.raises(FlatlasError, match=said):
        principal_of(make_solution("two_hidden", layer=recorded), layer, count)
