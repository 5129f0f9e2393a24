"""What L2 does to the Hessian and to the accuracy: claims on each kind of net of a figure."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import MORE, RISING
from flatlas.evidence.material import Material
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean
from flatlas.studies.false_friend.measured import (
    NAMES,
    NORMS,
    along_l2,
    of_means,
    read,
    settled,
    with_history,
)

# The strongest L2 that the author trained with.
STRONGEST = 5e-4
# A rank correlation of fewer strengths has next to no values to take.
FEWEST = 4


def claims_on_l2(material: Material, *names: str) -> list[Claim]:
    """Three norms and the accuracy: larger with L2 than without, and all along the grid."""
    material = with_history(material)
    return [claim for name in names for claim in _raised(material, name)]


def _raised(material: Material, name: str) -> Iterator[Claim]:
    nets = along_l2(material, name)
    strongest = _strongest(nets.values)
    for column, says in {**NORMS, "accuracy": "the test accuracy"}.items():
        values = read(nets, column)
        of_norm = column in NORMS
        yield nets.claim(
            f"{name}_{column}_more",
            f"adding L2 regularisation increases {says} of {NAMES[name]}",
            f"{'relative difference' if of_norm else 'difference'} of {says} with the"
            " author's strongest L2 from without; of means over nets",
            MORE,
            partial(_excess if of_norm else _difference, strongest),
            values,
            settled=settled(nets, column),
        )
        if values.shape[1] < FEWEST:
            continue
        strengths = np.arange(values.shape[1], dtype=float)
        rises = nets.claim(
            f"{name}_{column}_rises",
            f"the more L2, the larger {says} of {NAMES[name]}",
            f"rank correlation of {says}, mean over nets, with the strength of L2",
            RISING,
            of_means(partial(spearman, strengths)),
            values,
            settled=settled(nets, column),
        )
        yield from ours([rises])


def _excess(place: int, measured: np.ndarray) -> np.ndarray:
    """The mean at a value over that at the first, less 1."""
    means = mean(measured)
    return np.asarray(means[..., place] / means[..., 0] - 1)


def _difference(place: int, measured: np.ndarray) -> np.ndarray:
    """The mean at a value less that at the first."""
    means = mean(measured)
    return np.asarray(means[..., place] - means[..., 0])


def _strongest(strengths: list[float]) -> int:
    """Where the strongest L2 stands that is not stronger than the author's; the next one, if none.

    Without L2 is the first.
    """
    within = [place for place, one in enumerate(strengths) if 0 < one <= STRONGEST]
    return within[-1] if within else min(1, len(strengths) - 1)
