"""Tables of the measure `forgetting`, made up: what is held is not forgotten."""

from itertools import product

import numpy as np
from side_by_side import joined

STRENGTHS, DIRECTIONS = (0.1, 10.0, 1000.0), (10, 200, 500)
POINTS = ((0.0, 0), *product(STRENGTHS, DIRECTIONS))
TIME = np.arange(9) / 4


def forgetting(rng):
    """What is measured of one net."""
    ends = {(strength, count): saturated(rng, strength, count) for strength, count in POINTS}
    errors, moved = [], []
    for (strength, count), (epsilon_1, epsilon_2) in ends.items():
        told = {"strength": strength, "directions": count}
        gone = 1 - np.exp(-4 * TIME)
        course = {"time": TIME, "epsilon_1": 0.001 + epsilon_1 * gone, "loss_2": 0.1}
        errors.append((told, course | {"epsilon_2": 1 - (1 - epsilon_2) * gone}))
        rank = np.arange(1, 501)
        flatness = rank**0.6 * rng.lognormal(0, 0.05, 500)
        flatness[-1] = np.inf
        held = (rank <= count) * strength / 1000
        q = 0.1 * rng.exponential(size=500) * rank**-0.3 / (1 + 100 * held)
        columns = {"rank": rank, "flatness": flatness, "q": q, "converged": True}
        moved.append((told, columns))
    points = [
        {"strength": s, "directions": n, "epsilon_1": e1, "epsilon_2": e2, "converged": True}
        | {"loss_2": 0.1, "residual": 0.001, "iterations": 100}
        for (s, n), (e1, e2) in ends.items()
    ]
    return {
        "errors": joined(errors),
        "displacements": joined(moved),
        "points": points,
    }


def saturated(rng, strength, count):
    force = strength * count / 2e4
    noise = rng.lognormal(0, 0.05, 2)
    return 0.6 / (1 + 40 * force) * noise[0], min(1, 0.01 + force / (1 + force)) * noise[1]
