"""All inputs of n bits."""

from pathlib import Path

import numpy as np
import pytest

from flatlas.data.sources import boolean
from flatlas.plan.data_specs import Boolean


@pytest.mark.parametrize("bits", [1, 3, 10])
def test_every_input_once_in_binary_order_without_labels(bits):
    images = boolean.load(Boolean(kind="boolean", bits=bits), Path())
    assert images.train_images.shape == (2**bits, 1, 1, bits)
    for number, image in enumerate(images.train_images):
        assert image.flatten().tolist() == [255 * int(bit) for bit in f"{number:0{bits}b}"]
    np.testing.assert_array_equal(images.train_images, images.test_images)
    assert not images.train_labels.any() and not images.test_labels.any()
