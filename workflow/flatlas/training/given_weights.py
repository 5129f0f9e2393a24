"""Whether given weights classify the training images as they should."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from flatlas.plan.training_specs import Expected
from flatlas.reasons import ABOVE_EXPECTED, AT_CHANCE, DOUBTED

# Near chance: from this share of the best constant answer's error on. A small net that had learnt
# normalized images of CIFAR-10 misclassified 70 % of them without normalization; chance is 90 %.
NEAR = 0.5
# Far above expected: by more than this, and by more standard errors than these. Few images, others
# than the owner's, and new batch-norm statistics move the error by less.
FAR, STANDARD_ERRORS = 0.05, 3


def doubt(error: float, labels: Tensor, expected: Expected | None) -> str | None:
    """Why an `error` on images with these labels is no solution's; None if it may be one's."""
    if expected is not None:
        share = expected.train_error
        deviation = (share * (1 - share) / len(labels)) ** 0.5
        return ABOVE_EXPECTED if error > share + max(FAR, STANDARD_ERRORS * deviation) else None
    chance = 1 - torch.bincount(labels).max().item() / len(labels)
    return AT_CHANCE if 0 < NEAR * chance <= error else None


def advice(spec: Mapping[str, Any], outcomes: pd.DataFrame, history: pd.DataFrame) -> str | None:
    """What to do about weights that err too often, for the job's log; None if none do."""
    doubted = outcomes[outcomes["reason"].isin(DOUBTED)]
    if doubted.empty:
        return None
    samples = spec["samples"]
    normalize = samples.get("subset", samples)["source"].get("normalize", "not set")
    errors = history.loc[history["seed"].isin(doubted["seed"]), "train_error"]
    between = " to ".join(dict.fromkeys(f"{one:.1%}" for one in (errors.min(), errors.max())))
    reasons = " and ".join(doubted["reason"].unique())
    return (
        f"'{spec['net']['weights']}' misclassifies {between} of the training images, in "
        f"{len(doubted)} of {len(outcomes)} realizations: {reasons}. Give the data source the "
        "numbers of its transforms.Normalize, as normalize: {mean: […], std: […]} "
        f"(now: {normalize}), and compare the order of its classes and channels. If the error is "
        f"right, say expected: {{train_error: {errors.max():.3g}}} in the run."
    )
