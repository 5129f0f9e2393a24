"""All nets at once, with and without an axis of resamples between realizations and values."""

import numpy as np

from flatlas.statistics.correlation import pearson
from flatlas.statistics.pooling import over_all_nets


def test_all_nets_are_one_sample():
    x, y = np.random.default_rng(0).normal(size=(2, 4, 3))
    expected = np.corrcoef(x.ravel(), y.ravel())[0, 1]
    np.testing.assert_allclose(over_all_nets(pearson)(x, y), expected)


def test_each_resample_is_a_sample_of_its_own():
    x, y = np.random.default_rng(0).normal(size=(2, 4, 5, 3))
    found = over_all_nets(pearson)(x, y)
    expected = [np.corrcoef(x[:, n].ravel(), y[:, n].ravel())[0, 1] for n in range(5)]
    np.testing.assert_allclose(found, expected)
