"""Why a training ended, as `reason` of outcomes.csv says."""

from collections import Counter
from collections.abc import Iterable

RULE_MET = "rule met"
ALL_EPOCHS = "all epochs run"
EXHAUSTED = "epochs exhausted"
DIVERGED = "diverged"
# Of given weights, which are measured without training.
AT_CHANCE = "error near chance, perhaps a wrong normalization"
ABOVE_EXPECTED = "error far above expected, perhaps a wrong normalization"
LOSS_UNEXPECTED = "loss far from expected, perhaps a wrong normalization"
SWAPPED = "nearly all labels wrong, perhaps swapped classes"

CONVERGED = (RULE_MET, ALL_EPOCHS)
DOUBTED = (AT_CHANCE, ABOVE_EXPECTED, LOSS_UNEXPECTED, SWAPPED)
REASONS = (*CONVERGED, EXHAUSTED, DIVERGED, *DOUBTED)


def counted(reasons: Iterable[str]) -> str:
    """Each reason with its number, the most frequent first."""
    return ", ".join(f"{reason}: {count}" for reason, count in Counter(reasons).most_common())
