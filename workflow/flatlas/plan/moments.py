"""The moments of a training at which weights are kept, and how a study lists many at once."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from flatlas.plan.bounds import MOST_LISTED, Epoch
from flatlas.plan.spec import Distinct, InOrder

_SPAN = re.compile(r"(\d{1,20})\.\.(\d{1,20})(?:/(\d{1,20}))?")


def _after_the_rule(moment: Any) -> Any:
    if not (isinstance(moment, str) and re.fullmatch(r"met\+\d+", moment)):
        raise PydanticCustomError("moment", "met+10 (epochs after the stopping rule)")
    return moment


# An epoch; a number of epochs after the stopping rule was met; or the solution.
Moment = Epoch | Annotated[str, BeforeValidator(_after_the_rule)] | Literal["final"]


def _spelled_out(values: Any) -> Any:
    """Every '0..10/2' in a list becomes 0, 2, 4, 6, 8, 10."""
    if not isinstance(values, list | tuple):
        return values
    epochs: list[Any] = []
    for value in values:
        span = _SPAN.fullmatch(value) if isinstance(value, str) else None
        if span is None:
            epochs.append(value)
        else:
            first, last, step = int(span[1]), int(span[2]), int(span[3] or 1)
            if last < first or step < 1:
                raise ValueError(f"'{value}' is empty: write 'first..last' or 'first..last/step'")
            epochs += range(first, min(last + 1, first + step * (MOST_LISTED + 1)), step)
        if len(epochs) > MOST_LISTED:
            raise ValueError(
                f"'{value}' makes more than {MOST_LISTED:,} moments, and weights are kept at each: "
                "list fewer, or write 'first..last/step'"
            )
    return epochs


# Epochs, as single numbers or as spans: [0, 5, 10..100/10].
Epochs = Annotated[tuple[Epoch, ...], BeforeValidator(_spelled_out), Distinct, InOrder]


def moments(checkpoints: tuple[int, ...], overtraining: tuple[int, ...]) -> tuple[Moment, ...]:
    """All moments that a training keeps, as a study names them."""
    return (*checkpoints, *(f"met+{epochs}" for epochs in overtraining), "final")
