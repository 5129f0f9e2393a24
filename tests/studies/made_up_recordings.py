"""Tables of measures along a recording, made up as in `made_up`: power laws with a little noise."""

import numpy as np
from side_by_side import joined

# Moments by how the study calls a measure, with their epochs; the last is the solution.
MOMENTS = {"cooling": {"1": 1, "10": 10, "30": 30, "final": 60, "200": 200}}
PROFILES = (1, 2, 3, 5, 10, 20, 30, 50, 100)
UNITS = np.arange(-20, 21) / 20


def taken(name, measure, rng, directions):
    """The tables of a net at all moments of the measure that the study calls so."""
    tables = {}
    for at, epoch in MOMENTS.get(name, {"final": 60}).items():
        for table, rows in MEASURES[measure](rng, max(directions, 60), min(epoch, 60)).items():
            tables.setdefault(table, []).append(({"at": at, "epoch": min(epoch, 60)}, rows))
    return {table: joined(rows) for table, rows in tables.items()}


def spectrum(rng, directions):
    rank = np.arange(1, directions + 1)
    variance = 1e-3 * rank**-2.6 * rng.lognormal(0, 0.1, directions)
    return rank, variance, (variance / 1e-4) ** -0.25


def trajectory_pca(rng, directions, epoch):
    rank, variance, _ = spectrum(rng, directions)
    rest = variance * (rank > 1)
    time = np.arange(1, 101) / 10
    walks = [
        {"rank": i, "step": np.arange(1, 101), "time": time, "theta": theta}
        for i, theta in zip((1, 2, 49, 50), rng.normal(size=(4, 100)).cumsum(1), strict=True)
    ]
    table = {"rank": rank, "variance": variance, "cumulative": rest.cumsum() / rest.sum()}
    return {"directions": table, "projections": joined(({}, walk) for walk in walks)}


def valley(rng, directions, epoch):
    rank, variance, flatness = spectrum(rng, directions)
    flatness[-1] = np.nan
    table = {
        "rank": rank,
        "variance": variance,
        "flatness": flatness,
        "converged": rank < directions,
    }
    rows = []
    for i in PROFILES:
        delta = 2.0 * i**0.6 * UNITS
        loss = 1e-4 * np.exp(4 * (UNITS - 0.1 * (i == 1)) ** 2)
        profile = {"delta": delta, "loss": loss, "quadratic": 0.9 * loss}
        rows.append(({"rank": i}, profile))
    return {"directions": table, "profiles": joined(rows)}


def minibatch_losses(rng, directions, epoch):
    rank, variance, flatness = spectrum(rng, directions)
    curvature, spread = 8 / flatness**2, 0.1 * flatness**2
    table = {"rank": rank, "variance": variance, "curvature": curvature, "found": 0.99}
    table |= {"minimum": 0.0, "minimum_variance": spread, "product": curvature**2 * spread}
    rows = [
        {"rank": 30, "minibatch": mu, "delta": 60 * UNITS, "loss": 1e-4 * np.exp((UNITS - at) ** 2)}
        for mu, at in enumerate(rng.normal(0, 0.3, 5), start=1)
    ]
    return {"directions": table, "profiles": joined(({}, row) for row in rows)}


def active_temperature(rng, directions, epoch):
    rank, variance, flatness = spectrum(rng, directions)
    heat = 1e-6 * flatness**-2 / epoch
    table = {"rank": rank, "variance": variance, "temperature": heat, "loss": 0.1 / epoch}
    rows = [
        {"rank": i, "delta": i * UNITS, "temperature": heat[i - 1] * np.exp(UNITS**2)}
        | {"loss": 0.1 / epoch * np.exp(UNITS**2)}
        for i in (10, 20, 50)
    ]
    return {"directions": table, "profiles": joined(({}, row) for row in rows)}


def first_mode(rng, directions, epoch):
    rows = [{"label": k, "theta": UNITS, "margin": 8 + k + 3 * UNITS} for k in range(10)]
    return {"margins": joined(({}, row) for row in rows)}


MEASURES = {
    function.__name__: function
    for function in (trajectory_pca, valley, minibatch_losses, active_temperature, first_mode)
}
