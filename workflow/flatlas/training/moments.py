"""The moments of a training at which a study measures, and the weights kept there."""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from flatlas.reasons import DIVERGED
from flatlas.training.kept_weights import FINAL, checkpoint, overtrained


class KeptMoment(NamedTuple):
    """A moment: its name in the study, its name among the weights, and its epoch."""

    at: str
    key: str
    epoch: int


def kept_moments(
    wanted: Iterable[int | str], outcome: pd.Series, recorded: bool = False
) -> list[KeptMoment]:
    """The `wanted` moments that a realization has reached.

    A realization that diverged has no moments from that epoch on, even if its weights are still
    finite. One that never met the stopping rule has no moments after the rule. For a measure of
    a layer `recorded` in the extra epochs, neither of them has any.
    """
    # The recording begins when the rule is met.
    if recorded and (outcome["reason"] == DIVERGED or not outcome["met_epoch"]):
        return []
    moments = [_moment(at, outcome) for at in wanted]
    if outcome["reason"] == DIVERGED:
        moments = [one for one in moments if one.at != FINAL and one.epoch < outcome["epoch"]]
    return [moment for moment in moments if outcome["met_epoch"] or "met" not in moment.at]


def _moment(at: int | str, outcome: pd.Series) -> KeptMoment:
    end = int(outcome["epoch"])
    if at == FINAL:
        return KeptMoment(FINAL, FINAL, end)
    if isinstance(at, str):
        beyond = int(at.removeprefix("met+"))
        return KeptMoment(at, overtrained(beyond), int(outcome["met_epoch"]) + beyond)
    # A realization that ended before a checkpoint has its final weights there.
    return KeptMoment(str(at), checkpoint(at), min(at, end))
