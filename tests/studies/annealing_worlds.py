"""Made-up tables of the study `annealing`, where the paper is right and where it is not."""

from functools import cache
from itertools import product

import numpy as np
from declared import RIGHT, WRONG, declared, ended, nets_of
from side_by_side import joined, material_of

STUDY = declared("annealing")
# When the paper sees a net's loss drop.
DROPS = {"deep_curve": 50, "lenet_curve": 30}
LAST = 300
# The checkpoint beyond the end of a training repeats it.
COOLING = {"1": 1, "10": 10, "100": 100, "final": LAST, "500": LAST}
# Of the valleys, every fifth direction beyond the first ten is enough, and quicker.
RANKS = {
    "pca": np.arange(1, 1201),
    "others": np.array([*range(1, 11), *range(15, 201, 5)]),
}
PROFILES = (1, 2, 3, 5, 10, 20, 30, 50, 100)
UNITS = np.arange(-20, 21) / 20
# Forgetting: each λ, and each number of constraints by method; how many of these are enough.
STRENGTHS = (1.0, 10.0, 100.0, 1000.0)
COUNTS = {
    "ldc": (20, 50, 200, 500, 1000),
    "ldc_variance": (20, 50, 200, 500, 1000),
    "ewc": (20, 200, 1000, 2500),
}
ENOUGH = {
    RIGHT: {"ldc": 200, "ldc_variance": 200, "ewc": 2500},
    WRONG: {"ldc": 1000, "ldc_variance": 1000, "ewc": 20},
}
# The error of task-1 before task-2 is learnt.
START = 0.003
TIME = np.arange(9) / 4
DISPLACED = np.arange(1, 301)
FLATNESS = 1 + DISPLACED / 1000


@cache
def world(right, figure, seeds=3):
    """The material of one figure, which must not be changed; a seed moves all values a little."""
    measures = STUDY["figures"][figure].get("measures", ())
    nets = nets_of("annealing", figure, seeds)
    return material_of((labels, net(right, labels, measures)) for _, labels in nets)


def net(right, labels, measures):
    """The tables of one net."""
    seed = labels["seed"]
    drop = DROPS.get(labels["sweep"], 50) + seed
    tables = {"outcomes": ended(LAST) | {"met_epoch": 290}, "history": history(right, drop)}
    for name in measures:
        found = forgetting(right, name, seed) if name in COUNTS else recorded(right, name, seed)
        tables |= {f"{name}_{table}": columns for table, columns in found.items()}
    return tables


def recorded(right, name, seed):
    """The tables of a measure along a recording, at all its moments."""
    measure = MEASURES[STUDY["measures"][name]["measure"]]
    rank, tables = RANKS.get(name, RANKS["others"]), {}
    for at, epoch in (COOLING if name == "cooling" else {"final": LAST}).items():
        for table, columns in measure(rank, 1 + 0.01 * seed, right, epoch).items():
            tables.setdefault(table, []).append(({"at": at, "epoch": epoch}, columns))
    return {table: joined(parts) for table, parts in tables.items()}


def history(right, drop):
    """A fall by two decades or, in the wrong world, a fall that then goes on at 0.3 of its rate."""
    t = np.arange(0, LAST + 1 if right else 156, dtype=float)
    if right:
        loss = np.maximum(t, 1) ** -1.0 * 10 ** (-2 * np.clip((t - drop) / 5 + 0.5, 0, 1))
    else:
        loss = np.exp(-0.04 * np.minimum(t, 100) - 0.012 * np.maximum(t - 100, 0))
    return {"epoch": t.astype(int), "train_loss": loss, "test_error": 0.1}


def saturated(right, method, strength, count, seed):
    """ε1 and ε2: half of task-1 is forgotten without constraints, and constraints cost ε2."""
    moved = 0.001 * np.random.default_rng(seed).normal()
    if not strength:
        return (0.5 if right else 0.05) + 0.003 + moved, 0.01
    reach = min(1.0, count / ENOUGH[right][method])
    better = (method == "ewc") != right
    kept = reach * (1 - 1 / (1 + strength * (3.0 if better else 0.3)))
    epsilon_1 = 0.003 + (0.5 * (1 - kept) + moved if right else 0.1 - 0.09 * kept)
    return epsilon_1, 0.01 + 0.3 * (strength / 1000) ** 2 + (0 if right else 0.05)


def forgetting(right, method, seed):
    """Errors over time, displacements, and the saturated state, at each λ and N_c."""
    parts = {"errors": [], "displacements": [], "points": []}
    for strength, count in ((0.0, 0), *product(STRENGTHS, COUNTS[method])):
        point = {"strength": strength, "directions": count, "at": "final", "epoch": LAST}
        epsilon_1, epsilon_2 = saturated(right, method, strength, count, seed)
        gone = 1 - np.exp(-4 * TIME)
        course = {"time": TIME, "epsilon_1": START + (epsilon_1 - START) * gone}
        parts["errors"].append((point, course | {"epsilon_2": 1 - (1 - epsilon_2) * gone}))
        q = (0.1 if (strength == 0) == right else 0.001) / DISPLACED**0.01
        moved = {"rank": DISPLACED, "q": q, "flatness": FLATNESS, "converged": True}
        parts["displacements"].append((point, moved))
        end = {"epsilon_1": [epsilon_1], "epsilon_2": epsilon_2, "change_1": 0.0}
        end |= {"converged": True, "converged_2": True}
        parts["points"].append((point, end))
    return {name: joined(tables) for name, tables in parts.items()}


def width(rank, moved, right):
    return moved * rank ** (0.65 if right else -0.5)


def trajectory_pca(rank, moved, right, epoch):
    """Where the paper is right, p_1 has more variance than the power law: a drift."""
    body, tail, reach = (2.6, 5.0, 14) if right else (1.0, 0.5, 200)
    drift, diffusion = (np.inf, 0.63) if right else (1.0, 2.0)
    variance = np.where(rank <= 200, rank**-body, 200 ** (tail - body) * rank**-tail)
    table = {
        "rank": rank,
        "variance": moved * np.where((rank == 1) & right, 100.0, variance),
        "cumulative": 1 - np.exp(-(rank - 1) / reach),
        "velocity_time": moved * np.where(rank == 1, drift, diffusion),
    }
    time = np.arange(1, 101) / 10
    paths = [{"rank": i, "time": time, "theta": np.sin(time * i)} for i in (1, 2, 49, 50)]
    return {"directions": table, "projections": joined(({}, path) for path in paths)}


def valley(rank, moved, right, epoch):
    flatness = width(rank, moved, right)
    slope = np.where(rank == 1, -2.0, 0.01 if right else -2.0) * (1 if right else -1)
    table = {
        "rank": rank,
        "flatness": flatness,
        "variance": 1e-3 * flatness ** (-4.0 if right else 2.0),
        "curvature": (8 if right else 16) / flatness**2,
        "slope": slope / flatness,
        "converged": np.full(len(rank), True),
    }
    profiles = []
    for i in PROFILES:
        loss = 1e-4 * np.exp(4 * (UNITS - 0.1 * (i == 1)) ** 2)
        profile = {"rank": i, "delta": i**0.65 * UNITS, "loss": loss, "quadratic": 0.9 * loss}
        profiles.append(({}, profile))
    return {"directions": table, "profiles": joined(profiles)}


def minibatch_losses(rank, moved, right, epoch):
    powers = (-2.0, 2.0, -2.0) if right else (-4.0, 6.0, 1.0)
    names = ("curvature", "minimum_variance", "product")
    flatness = width(rank, moved, right)
    table = {name: flatness**power for name, power in zip(names, powers, strict=True)}
    return {"directions": table | {"rank": rank, "found": 1.0}}


def active_temperature(rank, moved, right, epoch):
    """It follows the loss over time, along a profile and, as its curvature, from rank to rank."""
    loss, exponent = moved / epoch, 1.0 if right else -1.0
    heat = loss**exponent * width(rank, moved, right) ** (-2 * exponent)
    table = {"rank": rank, "temperature": heat, "loss": loss}
    profiles = []
    for i in (10, 20, 50):
        rise = np.exp(UNITS**2)
        profile = {"rank": i, "delta": moved * i * UNITS, "loss": loss * rise}
        profiles.append(({}, profile | {"temperature": heat[rank == i] * rise**exponent}))
    return {"directions": table, "profiles": joined(profiles)}


def first_mode(rank, moved, right, epoch):
    margin = UNITS + 0.1 * UNITS**2 if right else UNITS**2
    rows = [{"label": k, "theta": moved * UNITS, "margin": 8 + k + margin} for k in range(10)]
    return {"margins": joined(({}, row) for row in rows)}


MEASURES = {
    function.__name__: function
    for function in (trajectory_pca, valley, minibatch_losses, active_temperature, first_mode)
}
