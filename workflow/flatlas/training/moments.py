"""The moments of a training, as a study names them, among the weights that were kept."""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from flatlas.training.keepsakes import FINAL, checkpoint, overtrained
from flatlas.training.outcome import DIVERGED


class KeptMoment(NamedTuple):
    """A moment: its name in the study, its name among the weights, and its epoch."""

    at: str
    key: str
    epoch: int


def kept_moments(wanted: Iterable[int | str], outcome: pd.Series) -> list[KeptMoment]:
    """The `wanted` moments that a realization has reached.

    From the epoch at which a realization diverged there is no solution to measure, even if its
    weights are still finite. A realization that never met the stopping rule has no moments after
    it.
    """
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
