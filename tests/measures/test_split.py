"""n_s on spectra whose steepest drop is known."""

import numpy as np
import pytest

from flatlas.measures.split import live, steepest_drop


def levels(*pieces):
    """Pieces (count, level), each falling by 5 % from its first to its last rank."""
    return np.concatenate([level * np.linspace(1.0, 0.95, count) for count, level in pieces])


SPECTRA = {
    "flat directions below": ((10, 1.0), (890, 0.3)),
    "many too flat to count": ((10, 1.0), (890, 1e-4)),
    "a tail at round-off": ((10, 1.0), (90, 0.3), (800, 1e-17)),
    "a tail of zeros": ((10, 1.0), (90, 0.3), (800, 0.0)),
    "a tail of rarely active neurons": ((10, 1.0), (600, 0.3), (200, 1e-3), (90, 1e-6)),
    "one a little above the rest": ((1, 1.3), (9, 1.0), (500, 0.3)),
}


@pytest.mark.parametrize("pieces", SPECTRA.values(), ids=SPECTRA.keys())
def test_the_drop_after_the_tenth_direction(pieces):
    assert steepest_drop(levels(*pieces)) == 10


def test_one_direction_far_above_the_rest():
    assert steepest_drop(levels((1, 9.0), (100, 1.0))) == 1


def test_units_do_not_matter():
    spectrum = levels((7, 1.0), (100, 0.2))
    assert steepest_drop(1e-6 * spectrum) == steepest_drop(1e6 * spectrum) == 7


@pytest.mark.parametrize("spectrum", [[0.0, 0.0, 0.0], [1.0], [1.0, 0.0]])
def test_nothing_to_split(spectrum):
    assert steepest_drop(np.array(spectrum)) == 1


def test_a_direction_at_round_off_is_not_alive():
    assert live(np.array([2.0, 1e-3, 1e-11, 1e-13, 0.0])).tolist() == [True] * 3 + [False] * 2
