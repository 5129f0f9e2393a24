"""Tables so small that a pencil will do. Each test names the numbers that it needs."""

import pandas as pd

from flatlas.evidence.material import Material

RULE_MET = "rule met"


def material(points, unmet=(), **tables):
    """Tables by name, with a row for each dictionary, standing at the point of its run.

    `points` are (sweep, run, swept values); trainings (run, seed) in `unmet` met no rule.
    """
    made = {}
    seeds = {(row["run"], row["seed"]) for rows in tables.values() for row in rows}
    outcomes = [
        {
            "run": run,
            "seed": seed,
            "reason": "epochs exhausted" if (run, seed) in unmet else RULE_MET,
            "converged": (run, seed) not in unmet,
        }
        for run, seed in sorted(seeds)
    ]
    for name, rows in {"outcomes": outcomes, **tables}.items():
        standing = [
            {"sweep": sweep, **values, **row}
            for sweep, run, values in points
            for row in rows
            if row["run"] == run
        ]
        made[name] = pd.DataFrame(standing)
    return Material(made)


def told(points, **where):
    """The rows of a figure's CSV at which columns have some values."""
    for column, value in where.items():
        points = points[points[column] == value]
    return points


def drawn_dots(ax, marker="o"):
    """(x, y) of every dot of a panel, and whether it is full."""
    return {
        (float(x), float(y)): line.get_markerfacecolor() != "white"
        for line in ax.lines
        if line.get_marker() == marker
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    }
