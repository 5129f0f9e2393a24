"""Drift and diffusion: constructed trajectories, closed forms, and sums over pairs."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from solutions import make_solution, with_recording

from flatlas.measures import measure
from flatlas.measures.trajectory_pca import velocity_time

EPOCH = 50


def pca(solution, components=(), epochs=6):
    options = {"layer": "fc2", "components": list(components), "epochs": epochs}
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
    tables = pca(replace(make_solution("two_hidden"), trajectory=trajectory), [1], epochs=10)
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


@pytest.mark.parametrize("period", [0.3, 7.0, 40.0])
def test_the_velocity_of_an_oscillation(period):
    """⟨v(t) v(t + τ)⟩ ∝ cos(2πτ / period), over whole periods."""
    t = torch.arange(2000 * EPOCH, dtype=torch.float64) / EPOCH
    theta = (2 * torch.pi * t / period).sin().unsqueeze(1)
    expected = period * np.arccos(np.exp(-1)) / (2 * np.pi)
    assert velocity_time(theta, EPOCH).item() == pytest.approx(expected, rel=2e-2)


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
    tables = pca(solution, [3, 1], epochs=10)
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
