"""What sweeps vary: keys, symbols, labels of values and their positions on an axis."""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from flatlas.plotting.style import written

# Sweeps that vary one quantity: its key, and its symbol in claims.
SWEEPS = {
    "alpha": ("optimizer.lr", "α"),
    "batch": ("batch", "B"),
    "decay": ("penalty.coefficient", "β"),
    "init": ("net.init.scale", "s"),
    "size": ("data.per_class", "N"),
    "noise": ("data.label_noise", "ρ"),
    "dropout": ("net.dropout", "d"),
    "decay_time": ("penalty.until_epoch", "t_β"),
}
# The key of tables that repeat a measure with fewer and fewer test images.
IMAGES = "test_images"
SYMBOLS = {
    "optimizer.lr": r"$\alpha$",
    "batch": "$B$",
    "penalty.coefficient": r"$\beta$",
    "penalty.until_epoch": r"$t_\beta$",
    "net.init.scale": "$s$",
    "net.dropout": "$d$",
    "data.per_class": "$N$",
    "data.label_noise": r"$\rho$",
    IMAGES: r"$N_{te}$",
    "factor": "$p$",
}
# Prefixes of sweeps that vary the same quantity elsewhere: in the convolutional net, or as in the
# authors' published program.
ELSEWHERE = ("cifar_", "program_")
# Values that span more than this factor get a logarithmic axis.
WIDE = 4
# Labels of ticks closer than this share of the axis would overlap.
TOO_CLOSE = 0.08


def varied(sweep: str) -> tuple[str, str]:
    """The key that a sweep varies and its symbol; `cifar_alpha` varies what `alpha` does."""
    for prefix in ELSEWHERE:
        sweep = sweep.removeprefix(prefix)
    return SWEEPS[sweep.removesuffix("_deep")]


def set_ticks(ax: Axes, values: Sequence[Any], key: str) -> dict[Any, float]:
    """Set ticks and label of the x axis for ascending values; returns their positions.

    Positions are evenly spaced for text and where tick labels would overlap.
    """
    places, scale = _places(values)
    ax.set_xscale(scale)
    ax.set_xticks(places, [written(value) for value in values], fontsize=8)
    ax.minorticks_off()
    ax.set_xlabel(SYMBOLS[key])
    return dict(zip(values, places, strict=True))


def _places(values: Sequence[Any]) -> tuple[list[float], str]:
    evenly = [float(place) for place in range(len(values))]
    if not all(isinstance(value, Real) for value in values):
        return evenly, "linear"
    numbers = [float(value) for value in values]
    # A logarithmic axis has no zero.
    logarithmic = len(numbers) > 1 and 0 < WIDE * numbers[0] < numbers[-1]
    along = np.log(numbers) if logarithmic else np.array(numbers)
    if len(along) > 1 and np.diff(along).min() < TOO_CLOSE * np.ptp(along):
        return evenly, "linear"
    return numbers, "log" if logarithmic else "linear"
