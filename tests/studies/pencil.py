"""Tables small enough to check with a pencil. Each test states the numbers that it needs."""

import pandas as pd
from matplotlib.colors import to_hex
from side_by_side import with_history

RULE_MET = "rule met"


def material(points, unmet=(), diverged=(), **tables):
    """Tables by name, with the rows of a run repeated at each of its points.

    `points` are (sweep, run, swept values). Of the trainings (run, seed), those in `unmet` met no
    rule, and those in `diverged` leave no rows.
    """
    trainings = {(row["run"], row["seed"]) for rows in tables.values() for row in rows}
    reasons = dict.fromkeys(trainings, RULE_MET) | dict.fromkeys(unmet, "epochs exhausted")
    reasons |= dict.fromkeys(diverged, "diverged")
    outcomes = [
        {"run": run, "seed": seed, "reason": reason, "converged": reason == RULE_MET}
        for (run, seed), reason in sorted(reasons.items())
    ]
    made = {"outcomes": _at_points(points, outcomes)}
    for name, rows in tables.items():
        table = _at_points(points, rows)
        left = [key not in diverged for key in zip(table["run"], table["seed"], strict=True)]
        made[name] = table[left]
    return with_history(made)


def _at_points(points, rows):
    standing = [
        {"sweep": sweep, **values, **row}
        for sweep, run, values in points
        for row in rows
        if row["run"] == run
    ]
    return pd.DataFrame(standing)


def rows_where(points, **where):
    """The rows of a figure's CSV that have these values."""
    for column, value in where.items():
        points = points[points[column] == value]
    return points


def drawn_dots(ax, marker="o", colour=None):
    """(x, y) of every dot of a panel, or of those of a colour, and whether it is full."""
    return {
        (float(x), float(y)): line.get_markerfacecolor() != "white"
        for line in ax.lines
        if line.get_marker() == marker
        and (colour is None or to_hex(line.get_color()) == colour.lower())
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    }


def note_of(drawing):
    """The small print under a figure, on one line."""
    return " ".join(drawing.figure.get_supxlabel().split())
