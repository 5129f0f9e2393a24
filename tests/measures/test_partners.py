"""Training partners against a search through all pairs."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from flatlas.errors import FlatlasError
from flatlas.measures.partners import nearest_partners


def searched(test_images, test_labels, images, labels):
    """Test image -> partner, one pair after another; the first of equals stays."""
    found = {}
    for k, (point, label) in enumerate(zip(test_images, test_labels, strict=True)):
        best = np.inf
        for other in np.flatnonzero(labels == label):
            distance = np.sum((point - images[other]) ** 2)
            if distance < best:
                best, found[k] = distance, int(other)
    return found


def paired(test_images, test_labels, images, labels, **limits):
    arrays = (test_images, test_labels, images, labels)
    partners = nearest_partners(*map(torch.as_tensor, arrays), **limits)
    pairs = zip(partners.test.tolist(), partners.train.tolist(), strict=True)
    return dict(pairs), partners.unpartnered


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.random((30, 8)), rng.integers(0, 4, 30), rng.random((90, 8)), rng.integers(0, 4, 90)


@pytest.mark.parametrize("distances", [1, 50, 1000])
def test_the_nearest_of_the_same_label_in_blocks_of_any_size(data, distances):
    assert paired(*data, distances=distances) == (searched(*data), 0)


def test_a_tie_goes_to_the_lowest_position():
    """Images of three grey levels tie often, and their distances are whole numbers."""
    rng = np.random.default_rng(1)
    test_images, images = rng.integers(0, 3, (40, 6)), rng.integers(0, 3, (200, 6))
    test_labels, labels = np.zeros(40, int), np.zeros(200, int)
    found, _ = paired(test_images.astype(float), test_labels, images.astype(float), labels)
    assert found == searched(test_images, test_labels, images, labels)


@pytest.mark.parametrize("distances", [1, 1_000_000])
def test_an_image_given_twice_is_taken_where_it_comes_first(distances):
    """A matrix product may sum the copies in another order; that round-off decides nothing."""
    rng = np.random.default_rng(2)
    test_images, images = rng.random((50, 300)), np.tile(rng.random((67, 300)), (5, 1))
    test_labels, labels = np.zeros(50, int), np.zeros(335, int)
    found, _ = paired(test_images, test_labels, images, labels, distances=distances)
    assert max(found.values()) < 67


def test_a_label_that_no_training_image_has_is_dropped_and_counted(data):
    test_images, test_labels, images, labels = data
    labels = np.where(labels == 2, -1, labels)
    found, unpartnered = paired(test_images, test_labels, images, labels)
    assert unpartnered == np.sum(test_labels == 2) > 0
    assert found == searched(test_images, test_labels, images, labels)


def test_no_pair_at_all_is_an_error(data):
    test_images, test_labels, images, labels = data
    with pytest.raises(FlatlasError, match="none of the 30 test images"):
        paired(test_images, test_labels + 10, images, labels)


STATUS = Path("/proc/self/status")
LARGE_SEARCH = """
import torch
from flatlas.measures.partners import nearest_partners

generator = torch.Generator().manual_seed(0)
images, test_images = (torch.rand(n, 4, generator=generator).double() for n in (60_000, 10_000))
labels, test_labels = (torch.arange(n) % 2 for n in (60_000, 10_000))
print(open("/proc/self/status").read())
partners = nearest_partners(test_images, test_labels, images, labels)
print(open("/proc/self/status").read(), len(partners.train))
"""


@pytest.mark.skipif(not STATUS.exists(), reason="asks the Linux kernel for the peak of memory")
def test_sixty_thousand_images_for_ten_thousand_take_little_memory():
    """Beside torch itself they fit in 1 GiB; each of the two labels has 1.1 GiB of distances."""
    workflow = Path(__file__).resolve().parents[2] / "workflow"
    done = subprocess.run(
        [sys.executable, "-c", LARGE_SEARCH],
        env={**os.environ, "PYTHONPATH": str(workflow), "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    *words, pairs = done.stdout.split()
    assert pairs == "10000"
    before, after = (int(kib) for name, kib in pairwise(words) if name == "VmHWM:")
    assert after - before < 256 * 1024
