"""The picture of the plan: a column for each stage, a dot for each job, lines for dependencies.

The jobs of a single study have its colour; shared jobs are black.
"""

from collections.abc import Mapping
from typing import Any

from matplotlib import pyplot
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from flatlas.plotting.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY

Position = tuple[float, float]
COLOURS = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY, GREY)
SIZE = (11.0, 7.5)
# Names are drawn if each has more than this many inches.
LEGIBLE_INCHES = 0.085
LABEL = {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.8}
BEND = 0.15


def draw_dag(stages: Mapping[str, Any]) -> Figure:
    """`stages` as flatlas.plan.graph makes them: nodes by stage, edges, the studies of nodes."""
    nodes, own = stages["nodes"], stages["studies"]
    studies = sorted(set(own.values()))
    colours = {study: COLOURS[n % len(COLOURS)] for n, study in enumerate(studies)}
    colour_of = {
        name: colours.get(own.get(name), BLACK) for names in nodes.values() for name in names
    }
    figure, ax = pyplot.subplots(figsize=SIZE)
    places = _places(nodes)
    lines = [_line(places[source], places[target]) for source, target in stages["edges"]]
    shades = [colour_of[target] for _, target in stages["edges"]]
    ax.add_collection(LineCollection(lines, colors=shades, lw=0.5, alpha=0.3, zorder=0))
    for name, (x, y) in places.items():
        ax.plot(x, y, "o", ms=3.5, mew=0, color=colour_of[name], zorder=2)
    for column, (stage, names) in enumerate(nodes.items()):
        title = f"{stage}\n({len(names)})"
        ax.text(column, 1.02, title, ha="center", va="bottom", fontsize=9, fontweight="bold")
        for name in names if SIZE[1] / max(len(names), 1) > LEGIBLE_INCHES else ():
            x, y = places[name]
            ax.text(x + 0.04, y, _short(name), va="center", fontsize=5.5, bbox=LABEL, zorder=1)
    handles = [Line2D([], [], marker="o", lw=0, color=shade) for shade in colours.values()]
    handles.append(Line2D([], [], marker="o", lw=0, color=BLACK))
    ax.legend(handles, [*colours, "shared"], loc="upper center", ncols=8, bbox_to_anchor=(0.5, 0))
    ax.set(xlim=(-0.35, len(nodes) - 0.3), ylim=(0, 1.1))
    ax.axis("off")
    return figure


def _line(start: Position, end: Position) -> list[Position]:
    """A line between two dots, bent within a column to avoid the dots in between."""
    (x0, y0), (x1, y1) = start, end
    between = (x0 + x1) / 2 + (BEND if x0 == x1 else 0)
    return [start, (between, (y0 + y1) / 2), end]


def _places(nodes: Mapping[str, list[str]]) -> dict[str, Position]:
    """Each stage's nodes spread evenly over the full height of its column."""
    return {
        name: (float(column), 1 - (place + 0.5) / len(names))
        for column, names in enumerate(nodes.values())
        for place, name in enumerate(names)
    }


def _short(name: str) -> str:
    """An id without its hash."""
    head, _, tail = name.rpartition("-")
    return head if head and len(tail) == 12 else name
