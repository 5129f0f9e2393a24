"""Tables of the measure `forgetting`, made up from the saturated errors at each (λ, N_c)."""

from itertools import product

import numpy as np
from side_by_side import joined

STRENGTHS, DIRECTIONS = (0.1, 10.0, 1000.0), (10, 200, 500)
# The error of task-1 before task-2 is learnt.
START = 0.003
TIME = np.arange(9) / 4


def forgetting(rng):
    """What is measured of one net: constrained, it forgets less."""

    def saturated(strength, count):
        force = strength * count / 2e4
        noise = rng.lognormal(0, 0.05, 2)
        return 0.6 / (1 + 40 * force) * noise[0], min(1, 0.01 + force / (1 + force)) * noise[1]

    def displaced(strength, count):
        rank = np.arange(1, 501)
        flatness = rank**0.6 * rng.lognormal(0, 0.05, 500)
        flatness[-1] = np.inf
        held = (rank <= count) * strength / 1000
        q = 0.1 * rng.exponential(size=500) * rank**-0.3 / (1 + 100 * held)
        return {"rank": rank, "flatness": flatness, "q": q, "converged": True}

    return tables(STRENGTHS, DIRECTIONS, saturated, displaced)


def tables(strengths, counts, saturated, displaced):
    """Of one net: its errors over time, its displacements, and the saturated state at each point.

    `saturated` gives ε1 and ε2, `displaced` the table of displacements, both of λ and N_c.
    """
    found = {"errors": [], "displacements": [], "points": []}
    for strength, count in ((0.0, 0), *product(strengths, counts)):
        point = {"strength": strength, "directions": count}
        epsilon_1, epsilon_2 = saturated(strength, count)
        gone = 1 - np.exp(-4 * TIME)
        course = {"time": TIME, "epsilon_1": START + (epsilon_1 - START) * gone}
        found["errors"].append((point, course | {"epsilon_2": 1 - (1 - epsilon_2) * gone}))
        found["displacements"].append((point, displaced(strength, count)))
        end = {"epsilon_1": epsilon_1, "epsilon_2": epsilon_2, "converged": True}
        found["points"].append((point, [end]))
    return {name: joined(parts) for name, parts in found.items()}
