"""The ranges of directions over which spectra are judged, by hand."""

import numpy as np
import pytest

from flatlas.studies.duality.directions import (
    by_stretch,
    counted,
    counted_each,
    live,
    moved,
    sharpest,
    stretches,
)

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("last", [1, 10, 11, 57, 103, 900, 3000])
def test_stretches_cover_the_ranks_once(last):
    ranks = [n for first, end in stretches(last) for n in range(first, end + 1)]
    assert ranks == list(range(1, max(10, last) + 1))


def test_stretches_are_half_decades():
    assert stretches(1000) == [(1, 3), (4, 10), (11, 32), (33, 100), (101, 316), (317, 1000)]


def test_the_directions_that_hold_99_percent_are_counted():
    """ΔL_n = 70, 29, 0.5, 0.5: two hold 99 %; a negative one counts by its size."""
    gap = np.array([[[70, 29, 0.5, 0.5], [70, 28, 1.5, 0.5], [60, -30, 9.5, 0.5]]])
    np.testing.assert_array_equal(counted_each(gap)[0], [[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0]])
    assert counted(gap) == 3
    assert counted(gap[:, :1]) == 2


def test_nets_without_a_solution_count_no_directions():
    gap = np.array([[[70, 29, 1.0]], [[np.nan] * 3]])
    assert not counted_each(gap)[1].any()
    assert counted(gap) == 2


def test_a_stretch_is_the_mean_of_its_ranks():
    spectrum = np.arange(1.0, 41.0).reshape(1, 1, 40)
    np.testing.assert_allclose(by_stretch(spectrum, 40)[0, 0], [2, 7, 25.5])
    assert sharpest(spectrum)[0, 0] == 5.5


def test_dead_directions_are_nan():
    np.testing.assert_array_equal(
        live(np.array([[4.0, 1e-3, 1e-13, 0.0, -1.0]])), [[4.0, 1e-3, np.nan, np.nan, np.nan]]
    )
    assert np.isnan(live(np.full((1, 3), np.nan))).all()


def test_a_spectrum_that_tilts_has_moved():
    """One half rises by a tenth, the other falls by a tenth."""
    logs = np.log(np.array([[[1.0, 1.0], [1.1, 1 / 1.1]]]))
    assert moved(logs) == pytest.approx(0.1)
