"""The style of all figures, and how they are saved: each with a CSV of every point in it."""

import re
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.projections import register_projection
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from flatlas.errors import FlatlasError
from flatlas.plotting.look import *  # noqa: F403
from flatlas.plotting.look import STYLE
from flatlas.store.atomic import replacing
from flatlas.store.tables import write_table

matplotlib.use("Agg")
pyplot.rcParams.update(STYLE)

# How many letters of small print fit in an inch of a figure's width.
LETTERS_PER_INCH = 18
FORMULA, PLACE = re.compile(r"\$[^$]*\$"), "\ue000"
# The parts of a formula's source that take space when drawn; a command is one symbol.
DRAWN = re.compile(r"\\[a-zA-Z]+|[^\\{}^_$ ]")


class Panel(Axes):
    """Axes that accept any numbers: NaN, infinity, or nothing above 0 on a log axis.

    Measures of a network that has all but diverged are such numbers.
    """

    name = "rectilinear"

    def set_xlim(self, left: Any = None, right: Any = None, **more: Any) -> tuple[float, float]:
        """Set the limits; a limit that is not finite stays as it is."""
        return super().set_xlim(*_finite(left, right), **more)

    def set_ylim(self, bottom: Any = None, top: Any = None, **more: Any) -> tuple[float, float]:
        """Set the limits; a limit that is not finite stays as it is."""
        return super().set_ylim(*_finite(bottom, top), **more)

    def set_xscale(self, value: Any, **more: Any) -> None:
        """Set the scale, with limits that it allows: matplotlib keeps those of an empty axis."""
        super().set_xscale(value, **more)
        if value == "log" and min(self.get_xlim()) <= 0:
            self.set_xlim(1, 10, auto=None)

    def set_yscale(self, value: Any, **more: Any) -> None:
        """Set the scale, with limits that it allows: matplotlib keeps those of an empty axis."""
        super().set_yscale(value, **more)
        if value == "log" and min(self.get_ylim()) <= 0:
            self.set_ylim(1, 10, auto=None)


def _finite(low: Any, high: Any) -> list[Any]:
    """Two limits, given one by one or as a pair; None for a limit that is not finite."""
    pair = low if high is None and np.iterable(low) else (low, high)
    return [one if one is not None and np.isfinite(one) else None for one in pair]


# Insets and twins are panels, too.
register_projection(Panel)


@dataclass(frozen=True)
class Drawing:
    """A finished figure and the table of every point in it."""

    figure: Figure
    points: pd.DataFrame


def written(value: Any) -> str:
    """A setting's value as figures show it: 0.1, full, 30-30 for the widths of two layers."""
    if isinstance(value, tuple):
        return "-".join(map(written, value))
    exact = isinstance(value, Integral) or not isinstance(value, Real)
    return str(value) if exact else f"{value:g}"


def plain_ticks(axis: Axis, of_each: tuple[float, ...] = (1.0, 2.0, 5.0)) -> None:
    """Put ticks at 1, 2 and 5 of each decade of a short logarithmic axis, as plain numbers."""
    axis.set_major_locator(LogLocator(subs=of_each))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def make_room(ax: Axes, above: float = 0.0, below: float = 0.0) -> None:
    """Lengthen a logarithmic y axis by these shares of its length, to make room for a legend."""
    low, high = ax.get_ylim()
    ax.set_ylim(low * (low / high) ** below, high * (high / low) ** above)


def note(figure: Figure, text: str) -> None:
    """Write small print under the panels, wrapped: a formula is one word with its drawn length."""
    formulas = iter(FORMULA.findall(text))
    words = FORMULA.sub(lambda formula: PLACE * len(DRAWN.findall(formula[0])), text)
    width = int(LETTERS_PER_INCH * figure.get_figwidth())
    lines = fill(words, width, break_long_words=False)
    lines = re.sub(f"{PLACE}+", lambda _: next(formulas), lines)
    figure.supxlabel(lines, fontsize=7.5, color="0.35", x=0.01, ha="left")


def add_note(figure: Figure, text: str) -> None:
    """Append a sentence to a figure's small print."""
    note(figure, f"{figure.get_supxlabel()} {text}".strip())


def empty_panels(figure: Figure) -> list[Axes]:
    """The panels that show nothing: no line, dot, bar, image, text or inset, nor does a twin."""
    # A colour bar of lines has no limits of data.
    panels = [ax for ax in figure.axes if ax.axison and ax.get_label() != "<colorbar>"]
    empty = {ax.get_position().bounds: ax for ax in panels}
    for ax in panels:
        if ax.texts or ax.child_axes or np.isfinite(ax.dataLim.get_points()).all():
            # Twins are at the same place.
            empty.pop(ax.get_position().bounds, None)
    return [*empty.values()]


def mark_empty(figure: Figure) -> None:
    """Say in each empty panel that there was nothing to draw."""
    for ax in empty_panels(figure):
        said = ax.text(0.5, 0.5, "nothing to draw", transform=ax.transAxes, color="0.35")
        said.set(ha="center", va="center")


def save(drawing: Drawing, output: Any) -> None:
    """Write PDF, PNG and CSV."""
    if not isinstance(drawing, Drawing):
        raise FlatlasError(
            f"draw(material) for {output.csv} returns {type(drawing).__name__}, not a Drawing: end "
            "it with `return Drawing(figure, points)`."
        )
    save_picture(drawing.figure, output.pdf, output.png)
    write_table(output.csv, drawing.points)


def save_picture(figure: Figure, pdf: str | Path, png: str | Path) -> None:
    """Write PNG and PDF without dates, so that the same figure is the same file."""
    engine = figure.get_layout_engine()
    # Place the panels once: with a layout engine, `savefig` would draw each file twice.
    if engine is not None:
        figure.set_dpi(pyplot.rcParams["savefig.dpi"])
        engine.execute(figure)
    # When `savefig` restores a layout engine of None, it sets the default one instead.
    with pyplot.rc_context({"figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)
        for path, metadata in ((png, {"Software": None}), (pdf, {"CreationDate": None})):
            with replacing(path) as temporary:
                figure.savefig(temporary, metadata=metadata)
    pyplot.close(figure)
