"""All inputs of n bits."""

from pathlib import Path

import numpy as np
import pytest

from flatlas.data.sources import boolean
from flatlas.plan.data_specs import Boolean


@pytest.mark.parametrize("bits", [1, 3, 7, 10])
def test_every_input_once_counted_up(bits):
    images = boolean.load(Boolean(kind="boolean", bits=bits), Path())
    assert images.train_images.shape == (2**bits, 1, 1, bits)
    assert set(np.unique(images.train_images)) == {0, 255}
    for number, image in enumerate(images.train_images):
        assert "".join(str(pixel // 255) for pixel in image.flatten()) == f"{number:0{bits}b}"


def test_training_and_testing_see_the_same_without_labels():
    images = boolean.load(Boolean(kind="boolean"), Path())
    np.testing.assert_array_equal(images.train_images, images.test_images)
    assert not images.train_labels.any() and not images.test_labels.any()
