"""Principal directions of a trajectory against scikit-learn, and drift and diffusion along them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.linalg import hadamard
from sklearn.decomposition import PCA
from solutions import make_solution, with_recording

from flatlas.errors import FlatlasError
from flatlas.measures import measure
from flatlas.measures import principal as module
from flatlas.measures.principal import principal, principal_of, projections
from flatlas.measures.trajectory_pca import velocity_time

CPU = torch.device("cpu")


def walk(steps, weights):
    """A random walk around weights that are not 0; each weight has another step size."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(steps, weights)) * np.geomspace(1, 1e-3, weights)
    return (3 + noise.cumsum(0)).astype(np.float32)


@pytest.mark.parametrize(("steps", "weights"), [(90, 40), (25, 40), (41, 40), (40, 40)])
def test_principal_components_are_those_of_scikit_learn(steps, weights, monkeypatch):
    """scikit-learn's variances divide by T − 1; our signs let every θ end above its start."""
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


EPOCH = 50


def pca(solution, components):
    options = {"layer": "fc2", "components": components, "epochs": 10}
    return measure("trajectory_pca", solution, options)


def diffusing(steps, weights, rng):
    """Springs that noise pulls at, with a time of five steps (an Ornstein-Uhlenbeck process)."""
    theta = np.zeros((steps, weights))
    for t in range(1, steps):
        theta[t] = 0.8 * theta[t - 1] + rng.normal(size=weights)
    return theta


def test_the_drift_mode_of_a_constructed_trajectory():
    """The weights move steadily in one direction, and diffuse in 53."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(54, 54)))[0].T
    theta = diffusing(10 * EPOCH, 53, rng) * np.geomspace(1, 0.1, 53)
    drift = np.linspace(-30, 30, 10 * EPOCH)[:, None]
    trajectory = (0.3 + np.hstack([drift, theta]) @ basis).astype(np.float32)
    tables = pca(replace(make_solution("two_hidden"), trajectory=trajectory), [1])
    first, others = tables["directions"].iloc[0], tables["directions"].iloc[1:]
    assert first["velocity_time"] == np.inf
    assert first["variance"] == pytest.approx(drift.var(), rel=1e-2)
    np.testing.assert_allclose(tables["projections"]["theta"], drift[:, 0], atol=1)
    assert (others["velocity_time"] < 0.5).all()


def test_a_random_walk_forgets_its_velocity_in_less_than_an_epoch():
    """Two displacements overlap by 1 − τ of an epoch, so 1/e is at τ = 1 − 1/e."""
    rng = np.random.default_rng(1)
    theta = torch.as_tensor(rng.normal(size=(400 * EPOCH, 20)).cumsum(0))
    times = velocity_time(theta, EPOCH)
    np.testing.assert_allclose(times.mean(), 1 - np.exp(-1), rtol=0.03)
    np.testing.assert_allclose(times, 1 - np.exp(-1), rtol=0.2)


def test_pure_diffusion_in_many_dimensions_has_a_first_direction_like_a_drift():
    """Its θ_k are cosines of k half-periods, σ_k² ∝ 1/k² (Antognini and Sohl-Dickstein, 2018).

    docs/annealing.md compares a drift with it: σ_2² is a quarter of σ_1², whose velocity lasts.
    """
    rng = np.random.default_rng(4)
    walk = rng.normal(size=(10 * EPOCH, 2000)).cumsum(0)
    left, sizes, _ = np.linalg.svd(walk - walk.mean(0), full_matrices=False)
    np.testing.assert_allclose(sizes[0] / sizes[:5], np.arange(1, 6), rtol=0.1)
    times = velocity_time(torch.as_tensor(left * sizes), EPOCH)
    cosines = np.cos(np.pi * np.outer(np.arange(0.5, 10 * EPOCH), np.arange(1, 6)) / 10 / EPOCH)
    expected = velocity_time(torch.as_tensor(cosines), EPOCH)
    torch.testing.assert_close(times[1:5], expected[1:], rtol=0.1, atol=0)
    assert 6 < times[0] < 9 and times[1] > 2
    assert (times[5:100] < 1).all()


def test_the_correlation_is_the_sum_over_pairs():
    """It first falls to 1/e on the straight line between two lags."""
    theta = np.random.default_rng(2).normal(size=(120, 3)).cumsum(0)
    found = velocity_time(torch.as_tensor(theta), 10)
    for column, time in zip((theta[10:] - theta[:-10]).T, found.tolist(), strict=True):
        lags = range(len(column))
        means = [np.mean(column[: len(column) - lag] * column[lag:]) for lag in lags]
        falls = next(lag for lag in lags if means[lag] <= means[0] / np.e)
        expected = np.interp(-means[0] / np.e, [-means[falls - 1], -means[falls]], [0, 1])
        assert time == pytest.approx((falls - 1 + expected) / 10, rel=1e-9)


def test_a_long_projection_is_thinned_from_its_first_step_to_its_last():
    solution = with_recording(make_solution("two_hidden"), "fc2", steps=5000)
    tables = pca(solution, [3, 1])
    rows, directions = tables["projections"], tables["directions"]
    assert rows["rank"].tolist() == [3] * 2000 + [1] * 2000
    first = rows[rows["rank"] == 1]
    assert first["step"].iloc[[0, -1]].tolist() == [1, 5000]
    np.testing.assert_allclose(first["time"], first["step"] / 500)
    assert first["theta"].var() == pytest.approx(directions["variance"][0], rel=0.1)
    assert first["theta"].iloc[-1] > first["theta"].iloc[0]
    np.testing.assert_array_equal(directions["rank"], np.arange(1, 55))
    variance, rest = directions["variance"], directions["variance"][1:]
    np.testing.assert_allclose(directions["share"], variance / variance.sum())
    np.testing.assert_allclose(directions["cumulative"], [0, *rest.cumsum() / rest.sum()])
