"""The training partner of a test image: the nearest training image of the same label (§2.2)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from flatlas.errors import FlatlasError

# Squared distances that differ by less, relative to the squared norms, are equal up to the
# round-off of a matrix product. They count as a tie, so the order in which a machine sums does not
# matter.
ROUND_OFF = 1e-12
# The most distances in memory at a time, unless one image has more: 64 MiB.
DISTANCES = 2**23


@dataclass(frozen=True)
class Partners:
    """The pairs (x′, x): positions of the test images, and of each one's training partner.

    `unpartnered` counts the test images whose label no training image has.
    """

    test: Tensor
    train: Tensor
    unpartnered: int


def nearest_partners(
    test_images: Tensor, test_labels: Tensor, images: Tensor, labels: Tensor
) -> Partners:
    """Pair every test image (a row) with a training image; a tie goes to the lowest position."""
    train = torch.full_like(test_labels, -1)
    for label in test_labels.unique():
        candidates = (labels == label).nonzero().flatten()
        mine = (test_labels == label).nonzero().flatten()
        if len(candidates):
            found = _nearest(test_images[mine], images[candidates])
            train[mine] = candidates[found]
    test = (train >= 0).nonzero().flatten()
    if not len(test):
        raise FlatlasError(
            f"none of the {len(test_labels)} test images has a training image with its label: "
            "take training and test images from the same classes."
        )
    return Partners(test, train[test], unpartnered=len(test_labels) - len(test))


def _nearest(points: Tensor, among: Tensor) -> Tensor:
    """The position of the nearest row of `among` for each row of `points`."""
    norms = torch.linalg.vector_norm(among, dim=1).square()
    rows = max(1, DISTANCES // len(among))
    return torch.cat([_nearest_in_block(block, among, norms) for block in points.split(rows)])


def _nearest_in_block(points: Tensor, among: Tensor, norms: Tensor) -> Tensor:
    """|x′ − x|² without |x′|², which is the same for all candidates: |x|² − 2 x′·x."""
    squared = torch.addmm(norms, points, among.T, alpha=-2)
    slack = ROUND_OFF * (points.square().sum(1) + norms.max())
    near = squared <= (squared.amin(1) + slack).unsqueeze(1)
    # argmax finds the first of equal values.
    return near.byte().argmax(1)
