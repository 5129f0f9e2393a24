"""Noise: its words are those of SplitMix64, its numbers are normal and independent."""

import numpy as np
import pytest
from kernels import FLOAT32, needs_compiler
from scipy import stats

from flatlas.training.noise import Noise

COUNT = 200_000
# The numbers that Rosetta Code lists for SplitMix64 with seed 1234567.
WORDS = (6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431)


def test_pairs_are_those_of_box_and_muller_on_splitmix64():
    # Uniform numbers have 23 and 25 bits.
    radius = np.sqrt(-2 * np.log([(word // 2**41 + 0.5) / 2**23 for word in WORDS]))
    turn = np.exp(2j * np.pi * np.array([word % 2**32 // 2**7 / 2**25 for word in WORDS]))
    expected = np.concatenate([radius * turn.real, radius * turn.imag])
    np.testing.assert_allclose(Noise(1234567).draw(8), expected, rtol=1e-6)


def test_numbers_are_normal():
    numbers = Noise(3).draw(COUNT)
    assert stats.kstest(numbers, "norm").pvalue > 0.01
    # The tails, where a coarse uniform number would show.
    beyond = (np.abs(numbers) > 4).sum()
    assert stats.binomtest(int(beyond), COUNT, 2 * stats.norm.sf(4)).pvalue > 0.01


@pytest.mark.parametrize("lag", [1, 2, COUNT // 4, COUNT // 2])
def test_numbers_of_a_stream_are_uncorrelated(lag):
    numbers = Noise(3).draw(COUNT).astype(float)
    for power in (1, 2):
        found = stats.pearsonr(numbers[:-lag] ** power, numbers[lag:] ** power)
        assert found.pvalue > 0.01


def test_streams_of_neighbouring_seeds_are_uncorrelated():
    first, second = (Noise(seed).draw(COUNT).astype(float) for seed in (3, 4))
    assert stats.pearsonr(first, second).pvalue > 0.01
    assert stats.pearsonr(first**2, second**2).pvalue > 0.01


@needs_compiler
@pytest.mark.parametrize("position", [0, 5, 2**40])
@pytest.mark.parametrize("count", [1, 2, 3, 8, 15, 16, 17, COUNT + 1])
def test_the_kernel_makes_the_same_numbers(count, position):
    noise = Noise(2**63 - 5)
    noise.position = position
    made = np.full(count + 1, 9, np.float32)
    FLOAT32.library.normal_numbers(noise.seed, position, count, made.ctypes.data)
    np.testing.assert_allclose(made[:-1], noise.draw(count), rtol=1e-6, atol=1e-7)
    assert made[-1] == 9
