"""Checks whether given weights fit the training images as well as expected."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from flatlas.plan.training_specs import Expected
from flatlas.reasons import ABOVE_EXPECTED, AT_CHANCE, DOUBTED, LOSS_UNEXPECTED, SWAPPED
from flatlas.training.evaluation import Evaluation

# An error of at least this share of the best constant answer's error is near chance. Example: a
# small net, trained on normalized images of CIFAR-10, misclassified 70 % of the images without
# normalization; chance is 90 %.
NEAR = 0.5
# An error is far above the expected one if it exceeds it by more than FAR and by more than
# STANDARD_ERRORS standard errors. Few images, images other than the owner's, and new batch-norm
# statistics move the error by less.
FAR, STANDARD_ERRORS = 0.05, 3
# A loss is unexpected if it differs by a larger factor. The loss of a random 1,000 of the images
# differs by less.
FACTOR = 2
# With fewer right answers than this share of those of the best constant answer, labels must be
# swapped.
NEARLY_NONE = 0.1


def doubt(evaluation: Evaluation, labels: Tensor, expected: Expected | None) -> str | None:
    """Why weights with this `evaluation` do not fit these labels; None if they may fit."""
    error, loss = evaluation.train_error, evaluation.train_loss
    share, known = (expected.train_error, expected.train_loss) if expected else (None, None)
    constant = torch.bincount(labels).max().item() / len(labels)
    if share is None:
        reason = AT_CHANCE if 0 < NEAR * (1 - constant) <= error else None
    else:
        deviation = (share * (1 - share) / len(labels)) ** 0.5
        above = error > share + max(FAR, STANDARD_ERRORS * deviation)
        reason = ABOVE_EXPECTED if above else None
    if reason and 1 - error < NEARLY_NONE * constant:
        return SWAPPED
    if not reason and known and not known / FACTOR <= loss <= known * FACTOR:
        return LOSS_UNEXPECTED
    return reason


def advice(spec: Mapping[str, Any], outcomes: pd.DataFrame, history: pd.DataFrame) -> str | None:
    """What to do about weights that do not fit the images, for the job's log; None if all fit."""
    doubted = outcomes[outcomes["reason"].isin(DOUBTED)]
    if doubted.empty:
        return None
    samples = spec["samples"]
    normalize = samples.get("subset", samples)["source"].get("normalize", "not set")
    of_doubted = history[history["seed"].isin(doubted["seed"])]
    errors, losses = of_doubted["train_error"], of_doubted["train_loss"]
    reasons = " and ".join(doubted["reason"].unique())
    swapped = ", or of the two of `positive`" if spec["outputs"] == 1 else ""
    return (
        f"'{spec['net']['weights']}' misclassifies {_between(errors, '.1%')} of the training "
        f"images, with a loss of {_between(losses, '.3g')}, in {len(doubted)} of {len(outcomes)} "
        f"realizations: {reasons}. Set normalize of the data source to the numbers of the "
        f"training's transforms.Normalize, {{mean: […], std: […]}} (now: {normalize}), and check "
        f"the order of channels and classes{swapped}. If they are right, set expected: "
        f"{{train_error: {errors.max():.3g}, train_loss: {losses.mean():.3g}}} in the run."
    )


def _between(values: pd.Series, form: str) -> str:
    """The smallest and the largest value, or one number if both are written alike."""
    return " to ".join(dict.fromkeys(f"{one:{form}}" for one in (values.min(), values.max())))
