"""The beginning of exploration, on curves whose phases are known by construction."""

import numpy as np
import pytest

from flatlas.statistics.learning_phases import steepness, transition

EPOCHS = np.arange(0, 301)


def curve(drop=40, width=5, before=1.0, after=1.0):
    """Power laws in t before and after a fall by two decades around an epoch."""
    t = np.maximum(EPOCHS, 1).astype(float)
    power = np.where(t < drop, t**-before, drop**-before * (t / drop) ** -after)
    fallen = np.clip((t - drop) / width + 0.5, 0, 1)
    return power * 10 ** (-2 * fallen)


def test_the_steepness_of_a_power_law_is_its_exponent():
    moments, steep = steepness(EPOCHS, 3 * np.maximum(EPOCHS, 0.5) ** -1.7)
    np.testing.assert_allclose(steep, 1.7, rtol=1e-9)
    assert moments[0] == pytest.approx(np.sqrt(1.5))
    assert moments[-1] == pytest.approx(300 / np.sqrt(1.5))


@pytest.mark.parametrize("drop", [10, 40, 150])
def test_exploration_begins_after_the_drop(drop):
    """It begins at drop · √1.5, when half of the drop has left the window of a factor √1.5."""
    found = transition(EPOCHS, curve(drop, width=drop / 10))
    assert found == pytest.approx((drop, drop * np.sqrt(1.5)), rel=0.06)


def test_noise_before_the_drop_is_not_mistaken_for_it():
    """Spikes to ten times the loss, and a scatter by half of it, like SGD's while it fits."""
    rng = np.random.default_rng(0)
    quiet = transition(EPOCHS, curve(60, width=8))[1]
    for _ in range(20):
        scatter = rng.lognormal(0, 0.4, len(EPOCHS)) * np.where(rng.random(301) < 0.1, 10, 1)
        noisy = curve(60, width=8) * np.where(EPOCHS < 60, scatter, 1)
        assert transition(EPOCHS, noisy)[1] == pytest.approx(quiet, rel=0.1)


def test_after_two_drops_exploration_begins_with_the_second():
    twice = curve(20, width=3) * curve(100, width=10, before=0, after=0)
    assert transition(EPOCHS, twice)[1] > 100


@pytest.mark.parametrize(
    ("epochs", "losses"),
    [
        (EPOCHS, 2 * np.maximum(EPOCHS, 1.0) ** -1.5),
        (EPOCHS, np.exp(-EPOCHS / 20)),
        (EPOCHS, np.full(301, 0.1)),
        (EPOCHS, np.full(301, np.nan)),
        (np.array([0, 1]), np.array([2.3, 0.4])),
        (np.empty(0), np.empty(0)),
    ],
    ids=["one power law", "ever faster", "no learning", "unknown", "one epoch", "no epoch"],
)
def test_one_phase_has_no_transition(epochs, losses):
    assert np.isnan(transition(epochs, losses)).all()


def test_the_unit_of_the_loss_and_a_later_rise_do_not_matter():
    expected = transition(EPOCHS, curve())
    assert transition(EPOCHS, 1e-3 * curve()) == pytest.approx(expected, rel=0.01)
    risen = curve()
    risen[200:210] *= 50
    assert transition(EPOCHS, risen)[1] == pytest.approx(expected[1])
