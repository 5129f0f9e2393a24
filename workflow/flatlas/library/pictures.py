"""Figures in the project's style; matplotlib is imported only when one is drawn."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flatlas.errors import FlatlasError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Panels side by side.
COLUMNS = 3


@contextmanager
def panels(count: int, width: float = 3.1) -> Iterator[tuple["Figure", list["Axes"]]]:
    """A figure with `count` panels, to be drawn in the project's style inside this context."""
    try:
        from matplotlib import pyplot

        from flatlas.plotting import look
    except ModuleNotFoundError as error:
        raise FlatlasError(f"a plot needs {error.name}: pip install matplotlib") from error
    columns = min(count, COLUMNS)
    with pyplot.rc_context(look.STYLE):
        figure, axes = look.panels(-(-count // columns), columns, width)
        for empty in axes[count:]:
            empty.remove()
        yield figure, axes[:count]


def symmetric_scale(ax: "Axes", linear: float, ticks: Iterable[float]) -> None:
    """Make the x-axis logarithmic beyond ±`linear`, with ticks at 0 and the visible ±`ticks`."""
    ax.set_xscale("symlog", linthresh=linear)
    ax.autoscale_view()
    low, high = ax.get_xlim()
    both = {0.0, *(sign * tick for tick in ticks for sign in (-1, 1))}
    seen = sorted(tick for tick in both if low <= tick <= high)
    ax.set_xticks(seen, [f"{tick:g}" for tick in seen])
