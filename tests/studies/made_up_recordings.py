"""Tables of measures along a recording, made up: power laws, as the paper has them or others."""

import numpy as np
from side_by_side import joined

# Moments with their epochs, by the name that the study gives a measure. Checkpoints beyond the end
# of a training repeat it.
MOMENTS = {"cooling": {"1": 1, "10": 10, "30": 30, "final": 60, "200": 60}}
PROFILES = (1, 2, 3, 5, 10, 20, 30, 50, 100)
UNITS = np.arange(-20, 21) / 20


def taken(name, measure, rng, directions):
    """The tables of a net at all moments of a measure, with some noise and a valley without end."""
    rank = np.arange(1, max(directions, 60) + 1)
    moved = rng.lognormal(0, 0.1, len(rank))
    tables = measured(measure, MOMENTS.get(name, {"final": 60}), rank, moved)
    if measure == "valley":
        tables["directions"]["flatness"][-1] = np.nan
        tables["directions"]["converged"][-1] = False
    return tables


def measured(measure, moments, rank, moved, right=True):
    """The tables of a net; `moved` is a factor for each rank."""
    tables = {}
    for at, epoch in moments.items():
        for table, columns in MEASURES[measure](rank, moved, right, epoch).items():
            tables.setdefault(table, []).append(({"at": at, "epoch": epoch}, columns))
    return {table: joined(parts) for table, parts in tables.items()}


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
    profiles = [
        {"rank": 30, "minibatch": mu, "delta": 9 * UNITS, "loss": 1e-4 * np.exp((UNITS - at) ** 2)}
        for mu, at in enumerate((-0.3, 0.0, 0.2), start=1)
    ]
    profiles = joined(({}, profile) for profile in profiles)
    return {"directions": table | {"rank": rank, "found": 1.0}, "profiles": profiles}


def active_temperature(rank, moved, right, epoch):
    """It follows the loss over time, along a profile and, as its curvature, from rank to rank."""
    loss, exponent = moved[0] / epoch, 1.0 if right else -1.0
    heat = loss**exponent * width(rank, moved, right) ** (-2 * exponent)
    table = {"rank": rank, "temperature": heat, "loss": loss}
    profiles = []
    for i in (10, 20, 50):
        rise = np.exp(UNITS**2)
        profile = {"rank": i, "delta": moved[0] * i * UNITS, "loss": loss * rise}
        profiles.append(({}, profile | {"temperature": heat[rank == i] * rise**exponent}))
    return {"directions": table, "profiles": joined(profiles)}


def first_mode(rank, moved, right, epoch):
    margin = UNITS + 0.1 * UNITS**2 if right else UNITS**2
    rows = [{"label": k, "theta": moved[0] * UNITS, "margin": 8 + k + margin} for k in range(10)]
    return {"margins": joined(({}, row) for row in rows)}


MEASURES = {
    function.__name__: function
    for function in (trajectory_pca, valley, minibatch_losses, active_temperature, first_mode)
}
