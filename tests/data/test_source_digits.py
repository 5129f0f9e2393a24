"""scikit-learn's digits."""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from flatlas.data.sources import digits
from flatlas.plan.data_specs import Digits


def test_every_third_of_each_class_is_for_testing():
    images, published = digits.load(Digits(kind="digits"), Path()), load_digits()
    for label in range(10):
        of_class = published.images[published.target == label]
        tested = np.arange(len(of_class)) % 3 == 2
        for part, expected in (("train", of_class[~tested]), ("test", of_class[tested])):
            found = getattr(images, f"{part}_images")[getattr(images, f"{part}_labels") == label]
            assert found.shape == (len(expected), 1, 8, 8)
            np.testing.assert_array_equal(found[:, 0], np.round(expected * 255 / 16))
    assert (len(images.train_labels), len(images.test_labels)) == (1201, 596)
    assert images.train_images.min() == 0 and images.train_images.max() == 255
