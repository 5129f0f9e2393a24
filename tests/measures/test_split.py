"""n_s on spectra whose steepest drop is known."""

import numpy as np
import pytest

from flatlas.measures.split import live, steepest_drop


def levels(*pieces):
    """Pieces (count, level), each falling by 5 % from its first to its last rank."""
    return np.concatenate([level * np.linspace(1.0, 0.95, count) for count, level in pieces])


@pytest.mark.parametrize(
    ("spectrum", "expected"),
    [
        pytest.param(levels((10, 1.0), (890, 0.3)), 10, id="flat directions below"),
        pytest.param(levels((10, 1.0), (890, 1e-4)), 10, id="many too flat to count"),
        pytest.param(levels((10, 1.0), (90, 0.3), (800, 1e-17)), 10, id="tail at round-off"),
        pytest.param(levels((10, 1.0), (90, 0.3), (800, 0.0)), 10, id="tail of zeros"),
        pytest.param(
            levels((10, 1.0), (600, 0.3), (200, 1e-3), (90, 1e-6)), 10, id="rarely active neurons"
        ),
        pytest.param(levels((1, 1.3), (9, 1.0), (500, 0.3)), 10, id="one slightly above the rest"),
        pytest.param(levels((1, 9.0), (100, 1.0)), 1, id="one far above the rest"),
        pytest.param(levels((7, 1e-6), (100, 2e-7)), 7, id="small unit"),
        pytest.param(levels((7, 1e6), (100, 2e5)), 7, id="large unit"),
        pytest.param(np.zeros(3), 1, id="zeros"),
        pytest.param(np.array([1.0]), 1, id="one direction"),
        pytest.param(np.array([1.0, 0.0]), 1, id="one live direction"),
    ],
)
def test_the_sharp_directions_end_at_the_steepest_drop(spectrum, expected):
    assert steepest_drop(spectrum) == expected


def test_a_direction_at_round_off_is_not_live():
    assert live(np.array([2.0, 1e-3, 1e-11, 1e-13, 0.0])).tolist() == [True] * 3 + [False] * 2
