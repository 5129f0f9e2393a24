"""When exploration begins, on curves whose phases are known by construction."""

import numpy as np
import pytest

from flatlas.statistics.learning_phases import steepness, transition

EPOCHS = np.arange(0, 301)


def curve(drop=40, width=5, decades=2, before=1.0, after=1.0):
    """Power laws in t before and after a fall by some decades around an epoch."""
    t = np.maximum(EPOCHS, 1).astype(float)
    power = np.where(t < drop, t**-before, drop**-before * (t / drop) ** -after)
    fallen = np.clip((t - drop) / width + 0.5, 0, 1)
    return power * 10 ** (-decades * fallen)


def test_the_steepness_of_a_power_law_is_its_exponent():
    moments, steep = steepness(EPOCHS, 3 * np.maximum(EPOCHS, 0.5) ** -1.7)
    np.testing.assert_allclose(steep, 1.7, rtol=1e-9)
    assert moments[0] == pytest.approx(np.sqrt(1.5))
    assert moments[-1] == pytest.approx(300 / np.sqrt(1.5))


@pytest.mark.parametrize("drop", [10, 40, 150])
def test_exploration_begins_when_the_drop_is_over(drop):
    """Once half of the drop has left the window of a factor √1.5, at drop · √1.5."""
    steepest, begins = transition(EPOCHS, curve(drop, width=drop / 10))
    assert steepest == pytest.approx(drop, rel=0.06)
    assert begins == pytest.approx(drop * np.sqrt(1.5), rel=0.06)
    assert begins >= 1.05 * drop


def test_noise_before_the_drop_is_not_taken_for_it():
    """Spikes to ten times the loss, and a scatter by half of it, as SGD has while it fits."""
    rng = np.random.default_rng(0)
    quiet = transition(EPOCHS, curve(60, width=8))[1]
    for _ in range(20):
        scatter = rng.lognormal(0, 0.4, len(EPOCHS)) * np.where(rng.random(301) < 0.1, 10, 1)
        noisy = curve(60, width=8) * np.where(EPOCHS < 60, scatter, 1)
        assert transition(EPOCHS, noisy)[1] == pytest.approx(quiet, rel=0.1)


def test_after_two_drops_it_begins_with_the_second():
    twice = curve(20, width=3) * curve(100, width=10, before=0, after=0)
    assert transition(EPOCHS, twice)[1] > 100


@pytest.mark.parametrize(
    "losses",
    [
        2 * np.maximum(EPOCHS, 1.0) ** -1.5,
        np.exp(-EPOCHS / 20),
        np.full(301, 0.1),
        np.full(301, np.nan),
    ],
    ids=["one power law", "ever faster", "no learning", "unknown"],
)
def test_where_there_is_one_phase_there_is_no_transition(losses):
    assert np.isnan(transition(EPOCHS, losses)).all()


def test_a_training_of_an_epoch_has_no_phases():
    assert np.isnan(transition(np.array([0, 1]), np.array([2.3, 0.4]))).all()
    assert np.isnan(transition(np.empty(0), np.empty(0))).all()


def test_the_unit_of_the_loss_and_a_later_rise_do_not_matter():
    losses = curve()
    expected = transition(EPOCHS, losses)
    assert transition(EPOCHS, 1e-3 * losses) == pytest.approx(expected, rel=0.01)
    risen = losses.copy()
    risen[200:210] *= 50
    assert transition(EPOCHS, risen)[1] == pytest.approx(expected[1])
