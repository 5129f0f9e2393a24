"""A small source in memory."""

import numpy as np
import pytest

from flatlas.data.images import Images


@pytest.fixture
def images():
    """Five classes in mixed order, 60 training and 30 test images each, no two images alike."""
    rng = np.random.default_rng(0)
    return Images(
        train_images=rng.integers(0, 256, (300, 2, 3, 4), dtype=np.uint8),
        train_labels=rng.permutation(np.repeat(np.arange(5), 60)),
        test_images=rng.integers(0, 256, (150, 2, 3, 4), dtype=np.uint8),
        test_labels=rng.permutation(np.repeat(np.arange(5), 30)),
    )
