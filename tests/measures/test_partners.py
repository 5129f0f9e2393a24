"""Training partners against a search through all pairs."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from flatlas.errors import FlatlasError
from flatlas.flatness import partners as module
from flatlas.flatness.partners import nearest_partners


def searched(test_images, test_labels, images, labels):
    """Test image -> partner, pair by pair; of equal distances the first one counts."""
    found = {}
    for k, (point, label) in enumerate(zip(test_images, test_labels, strict=True)):
        same = np.flatnonzero(labels == label)
        if len(same):
            found[k] = int(same[np.argmin(((images[same] - point) ** 2).sum(1))])
    return found


def paired(*arrays):
    partners = nearest_partners(*map(torch.as_tensor, arrays))
    pairs = zip(partners.test.tolist(), partners.train.tolist(), strict=True)
    return dict(pairs), partners.unpartnered


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.random((30, 8)), rng.integers(0, 4, 30), rng.random((90, 8)), rng.integers(0, 4, 90)


@pytest.mark.parametrize("distances", [1, 50, 1000])
def test_partners_are_the_nearest_of_the_same_label_in_blocks_of_any_size(
    data, distances, monkeypatch
):
    monkeypatch.setattr(module, "DISTANCES", distances)
    assert paired(*data) == (searched(*data), 0)


def test_a_tie_goes_to_the_lowest_position():
    """Images of three grey levels tie often, and their distances are whole numbers."""
    rng = np.random.default_rng(1)
    test_images, images = (rng.integers(0, 3, (count, 6)).astype(float) for count in (40, 200))
    arrays = test_images, np.zeros(40, int), images, np.zeros(200, int)
    assert paired(*arrays) == (searched(*arrays), 0)


@pytest.mark.parametrize("distances", [1, 1_000_000])
def test_the_first_of_equal_images_is_taken(distances, monkeypatch):
    """A matrix product may sum the copies in another order; that round-off decides nothing."""
    monkeypatch.setattr(module, "DISTANCES", distances)
    rng = np.random.default_rng(2)
    test_images, images = rng.random((50, 300)), np.tile(rng.random((67, 300)), (5, 1))
    test_labels, labels = np.zeros(50, int), np.zeros(335, int)
    found, _ = paired(test_images, test_labels, images, labels)
    assert max(found.values()) < 67


def test_a_label_without_training_images_is_dropped_and_counted(data):
    test_images, test_labels, images, labels = data
    arrays = test_images, test_labels, images, np.where(labels == 2, -1, labels)
    unpartnered = np.sum(test_labels == 2)
    assert unpartnered > 0
    assert paired(*arrays) == (searched(*arrays), unpartnered)
    with pytest.raises(FlatlasError, match="none of the 30 test images"):
        paired(test_images, test_labels + 10, images, labels)


STATUS = Path("/proc/self/status")
LARGE_SEARCH = """
import torch
from flatlas.flatness.partners import nearest_partners

generator = torch.Generator().manual_seed(0)
images, test_images = (torch.rand(n, 4, generator=generator).double() for n in (60_000, 10_000))
labels, test_labels = (torch.arange(n) % 2 for n in (60_000, 10_000))
print(open("/proc/self/status").read())
partners = nearest_partners(test_images, test_labels, images, labels)
print(open("/proc/self/status").read(), len(partners.train))
"""


@pytest.mark.skipif(not STATUS.exists(), reason="asks the Linux kernel for the peak of memory")
def test_sixty_thousand_images_for_ten_thousand_take_little_memory(python):
    """In addition to torch they fit in 256 MiB; each of the two labels has 1.1 GiB of distances."""
    *words, pairs = python(LARGE_SEARCH, OMP_NUM_THREADS="1").split()
    assert pairs == "10000"
    before, after = (int(kib) for name, kib in pairwise(words) if name == "VmHWM:")
    assert after - before < 256 * 1024
