"""Wrong labels."""

import numpy as np
import pytest
from scipy.stats import chisquare

from flatlas.data.wrong_labels import wrong_labels


@pytest.mark.parametrize("allowed", [[0, 1], [0, 1, 2, 3], [0, 2, 5, 6, 9]])
def test_never_right_and_uniform_among_the_others(allowed):
    allowed = np.array(allowed)
    labels = np.repeat(allowed, 3000)
    wrong = wrong_labels(labels, allowed, np.random.default_rng(4))
    assert (wrong != labels).all()
    for label in allowed:
        values, counts = np.unique(wrong[labels == label], return_counts=True)
        assert values.tolist() == [other for other in allowed if other != label]
        assert len(values) == 1 or chisquare(counts).pvalue > 1e-3
