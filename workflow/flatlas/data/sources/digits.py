"""scikit-learn's handwritten digits, 8 x 8: they come with the library, without a download."""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from flatlas.data.images import Images
from flatlas.plan.data_specs import Digits

HIGHEST = 16


def load(spec: Digits, root: Path) -> Images:
    """All 1,797 digits, every third of each class for testing.

    The digits are in the order of their writers, so all writers are in both parts.
    """
    digits = load_digits()
    images = np.rint(digits.images * 255 / HIGHEST).astype(np.uint8)[:, None]
    labels = digits.target.astype(np.int64)
    tested = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        tested[np.flatnonzero(labels == label)[2::3]] = True
    return Images(images[~tested], labels[~tested], images[tested], labels[tested])
