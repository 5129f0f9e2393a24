"""Where a claim's number, its interval and its criterion lie on a strip."""

from collections.abc import Mapping
from math import isfinite

WIDTH, MARGIN = 150, 12


def place(claim: Mapping[str, float]) -> dict[str, float]:
    """The positions in pixels, for a claim with a finite value.

    If a criterion has no end on a side, it goes to the end of the strip.
    """
    value = claim["value"]
    low, high = (claim[end] if isfinite(claim[end]) else value for end in ("low", "high"))
    holds = claim["holds_from"], claim["holds_to"]
    shown = [value, low, high, *filter(isfinite, holds)]
    start, end = min(shown), max(shown)
    scale = (WIDTH - 2 * MARGIN) / (end - start or 1.0)

    def x(number: float) -> float:
        return round(min(max(MARGIN + scale * (number - start), 0.0), float(WIDTH)), 1)

    places = {"value": x(value), "low": x(low), "high": x(high)}
    return places | {"holds_from": x(holds[0]), "holds_to": x(holds[1]), "width": WIDTH}
