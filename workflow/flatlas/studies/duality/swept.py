"""What is swept: its symbol, how its values read, and where they stand on an axis.

Claims: The sweeps by which the paper varies one thing alone: the key in each, and its symbol.
"""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from matplotlib.axes import Axes

# The key that varies in each sweep that varies one thing alone.
KEYS = {
    "alpha": "optimizer.lr",
    "batch": "batch",
    "decay": "penalty.coefficient",
    "init": "net.init.scale",
    "size": "data.per_class",
    "noise": "data.label_noise",
    "dropout": "net.dropout",
}
SYMBOLS = {
    "optimizer.lr": r"$\alpha$",
    "batch": "$B$",
    "penalty.coefficient": r"$\beta$",
    "penalty.until_epoch": r"$t_\beta$",
    "net.init.scale": "$s$",
    "net.dropout": "$d$",
    "data.per_class": "$N$",
    "data.label_noise": r"$\rho$",
    "test_images": r"$N_{te}$",
    "factor": "$p$",
}
# Values that span more than this stand on a logarithmic axis.
WIDE = 4
# Ticks closer than this share of the axis would run into each other.
CROWDED = 0.08
SWEPT = {
    "alpha": ("optimizer.lr", "α"),
    "batch": ("batch", "B"),
    "decay": ("penalty.coefficient", "β"),
    "init": ("net.init.scale", "s"),
    "dropout": ("net.dropout", "d"),
}


def read(value: Any) -> str:
    """A swept value as it stands in a legend."""
    if isinstance(value, tuple):
        return "-".join(map(read, value))
    return f"{value:g}" if isinstance(value, Real) else str(value)


def stand(ax: Axes, values: Sequence[Any], key: str) -> dict[Any, float]:
    """Where ascending values stand on the x axis, which gets a tick for each and their symbol.

    Zero has no place on a logarithmic axis, text has none on any, and crowded values would be
    unreadable: those stand evenly.
    """
    places, scale = _places(values)
    ax.set_xscale(scale)
    ax.set_xticks(places, [read(value) for value in values], fontsize=8)
    ax.minorticks_off()
    ax.set_xlabel(SYMBOLS[key])
    return dict(zip(values, places, strict=True))


def _places(values: Sequence[Any]) -> tuple[list[float], str]:
    evenly = [float(place) for place in range(len(values))]
    if not all(isinstance(value, Real) for value in values):
        return evenly, "linear"
    numbers = [float(value) for value in values]
    logarithmic = len(numbers) > 1 and 0 < WIDE * numbers[0] < numbers[-1]
    along = np.log(numbers) if logarithmic else np.array(numbers)
    if len(along) > 1 and np.diff(along).min() < CROWDED * np.ptp(along):
        return evenly, "linear"
    return numbers, "log" if logarithmic else "linear"
