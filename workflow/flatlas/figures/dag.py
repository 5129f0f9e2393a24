"""The picture of the plan: a column a stage, a dot a job, a line where one feeds the other."""

from collections.abc import Mapping
from typing import Any

from matplotlib import pyplot
from matplotlib.figure import Figure

from flatlas.figures.style import BLUE

Position = tuple[float, float]
LABEL = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.9}
MOST_LABELS = 60
BULGE = 0.15


def draw_dag(stages: Mapping[str, Any]) -> Figure:
    """`stages` as flatlas.plan.stages makes them: nodes by stage, and edges between nodes."""
    nodes = stages["nodes"]
    rows = max(len(names) for names in nodes.values())
    figure, ax = pyplot.subplots(figsize=(10, min(max(3.0, 0.22 * rows), 14.0)))
    places = _places(nodes, rows)
    for source, target in stages["edges"]:
        (x0, y0), (x1, y1) = places[source], places[target]
        # Within a column a straight line would run through the dots between.
        between = (x0 + x1) / 2 + (BULGE if x0 == x1 else 0)
        xs, ys = (x0, between, x1), (y0, (y0 + y1) / 2, y1)
        ax.plot(xs, ys, color="0.75", lw=0.5, zorder=0)
    for x, y in places.values():
        ax.plot(x, y, "o", ms=4, color=BLUE, zorder=2)
    for column, (stage, names) in enumerate(nodes.items()):
        title = f"{stage} ({len(names)})"
        ax.text(column, rows + 0.2, title, ha="center", fontsize=9, fontweight="bold")
        for name in names if len(names) <= MOST_LABELS else ():
            x, y = places[name]
            ax.text(x, y - 0.18, _short(name), ha="center", va="top", fontsize=5.5, bbox=LABEL)
    ax.set(xlim=(-0.5, len(nodes) - 0.5), ylim=(-0.8, rows + 0.8))
    ax.axis("off")
    return figure


def _places(nodes: Mapping[str, list[str]], rows: int) -> dict[str, Position]:
    """Each stage's nodes spread evenly over the full height of its column."""
    return {
        name: (float(column), rows - (place + 0.5) * rows / len(names))
        for column, names in enumerate(nodes.values())
        for place, name in enumerate(names)
    }


def _short(name: str) -> str:
    """An id without its hash."""
    head, _, tail = name.rpartition("-")
    return head if head and len(tail) == 12 else name
