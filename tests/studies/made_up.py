"""Made-up tables of every measure: the columns that it declares, with random numbers in them.

A table has a row for each value of the options: each factor, each radius, each rank.
"""

from functools import cache, reduce
from itertools import product
from operator import or_

import numpy as np
from side_by_side import columns_of, material_of, without_rows

from flatlas.evidence.material import Material

RULE_MET, EXHAUSTED, DIVERGED = "rule met", "epochs exhausted", "diverged"
# The epoch at which each training meets its rule.
MET = 60
RANKS = range(1, 61)
UNITS = tuple(np.linspace(-1, 1, 21))
GRID = [{"x": x, "y": y} for x, y in product(np.linspace(-1.25, 1.25, 7), repeat=2)]
# Axes whose values no option names, by the column of a table or of any table.
AXES = {
    "n": RANKS,
    "rank": RANKS,
    "scaling": ("none", "layer", "neurons"),
    "epoch_of_ascent": range(101),
    "time": tuple(np.arange(9) / 4),
    "delta": UNITS,
    "label": range(10),
    "minibatch": (1, 2, 3),
    "of": ("f1", "f2"),
    "density.eigenvalue": tuple(np.linspace(-0.06, 1.06, 60)),
    "margins.theta": UNITS,
    "contrastive_flatness.flatness": ("trace", "spectral_norm", "sharpness"),
    "survival.flatness": ("trace", "spectral_norm", "sharpness"),
    "convolution_duality.pair": range(50),
}
# Axes by the option that has their values.
OPTIONS = {
    "profiles.rank": "profiles",
    "projections.rank": "components",
    "factor": "factors",
    "damping": "dampings",
    "scale": "scales",
    "test_images": "sizes",
    "orthant.size": "sizes",
    "true_regret.epsilon": "radii",
}
FIXED = {
    "function": "5a" * 16,
    "contradictions": "",
    "misclassified": 0,
    "train_size": 500,
    "train_error": 0.0,
    "residual": 1e-6,
    "spectral_norm_residual": 1e-6,
}
SIGNED = ("eigenvalue", "rest", "slope", "gap", "gap_flat", "loss_gap", "dual_loss_gap", "margin")
SHARES = ("correlation", "bulk", "probability", "test_error", "epsilon_1", "epsilon_2", "ratio")


def material(nets, realizations=2, ends=None):
    """The tables of a figure. `ends` says how trainings (run, seed) ended that met no rule.

    `nets` are points with the options of the measures taken of them, by their names in the study.
    """
    ends = ends or {}
    made = [
        part
        for place, (point, measures) in enumerate(nets)
        for seed in range(realizations)
        for part in net(point, measures, seed, place, ends.get((point["run"], seed), RULE_MET))
    ]
    return material_of(made)


def net(point, measures, seed, place, end):
    """The tables of one net, each with its name and its point."""
    rng = np.random.default_rng([seed, place])
    last = max([MET, *(epoch_of(at) for one in measures.values() for at in moments(one))])
    stands = {key: value for key, value in point.items() if key != "lacks"} | {"seed": seed}
    met = end == RULE_MET
    yield stands, {"outcomes": outcome(end, met, last), "history": history(rng, last)}
    for name, options in measures.items():
        cost = {"seconds": [2.0 + place], "peak_mib": 500}
        yield stands, {f"{name}_cost": cost} if seed == 0 else {}
        for at in options.at:
            epoch = last if at == "final" else min(epoch_of(at), last)
            reached = end != DIVERGED and (met or not str(at).startswith("met+"))
            tables = taken(options, rng)
            rows = {
                f"{name}_{table}": columns if reached else without_rows(columns)
                for table, columns in tables.items()
            }
            yield stands | {"at": str(at), "epoch": epoch}, rows


def moments(options):
    return [at for at in options.at if str(at).startswith("met+")]


def epoch_of(at):
    return MET + int(at.removeprefix("met+")) if isinstance(at, str) else at


def outcome(end, met, last):
    ended = {"reason": [end], "converged": met}
    return ended | {"met_epoch": MET if met else 0, "epoch": last}


def history(rng, last):
    """Losses that fall by two decades at epoch 20."""
    epoch = np.arange(last + 1)
    return {
        "epoch": epoch,
        "train_loss": 2 / (1 + epoch) * np.where(epoch < 20, 1, 0.01),
        "train_error": np.where(epoch < 30, 0.1, 0.0),
        "weight_norm": 5 + np.log(1 + epoch),
        "test_error": 0.1 + 0.1 * rng.random() + 0.2 / (1 + epoch),
    }


def taken(options, rng):
    """The tables that a measure writes of one net at one moment."""
    return {table: places(options, table) | filled(options, table, rng) for table in options.tables}


def filled(options, table, rng):
    """A random number in each column that is no axis."""
    axes = places(options, table)
    count = len(next(iter(axes.values()), [0]))
    columns = options.tables[table]
    return {
        name: drawn(rng, name, column.type, count)
        for name, column in columns.items()
        if name not in axes
    }


def drawn(rng, name, kind, count):
    if name in FIXED:
        return [FIXED[name]] * count
    if name == "cumulative":
        return np.arange(count) / count
    if kind is str:
        return ["a"] * count
    if kind is bool:
        return rng.random(count) < 0.9
    if kind is int:
        return rng.integers(1, 20, count)
    if name in SHARES:
        return rng.random(count)
    sign = rng.choice([-1, 1, 1, 1], count) if name in SIGNED else 1
    return (-100 if name.startswith("log10_p") else sign) * rng.lognormal(0, 0.5, count)


@cache
def places(options, table):
    """The columns that tell the rows of a table apart."""
    axes = [
        [{name: value} for value in values]
        for name in options.tables[table]
        if (values := axis(options, table, name)) is not None
    ]
    if options.measure == "forgetting":
        pairs = [(0.0, 0), *product(options.strengths, options.directions)]
        axes.append([{"strength": one, "directions": count} for one, count in pairs])
    if table == "surface":
        axes.append(GRID)
    rows = [reduce(or_, parts, {}) for parts in product(*axes)]
    return columns_of(rows)


def axis(options, table, name):
    """The values of a column, if it is an axis of its table."""
    for known in (f"{options.measure}.{name}", f"{table}.{name}", name):
        if known in OPTIONS:
            return getattr(options, OPTIONS[known], (1.0,))
        if known in AXES:
            return AXES[known]
    return None


def unsolved(material):
    """The tables of a figure whose trainings all diverged: columns, and no row of a measure."""
    ended = {"converged": False, "reason": "diverged", "met_epoch": 0}
    tables = {name: table.iloc[:0] for name, table in material.tables.items()}
    return Material(tables | {"outcomes": material.tables["outcomes"].assign(**ended)})
