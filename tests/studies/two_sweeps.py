"""Tables of two sweeps with a run in common, small enough to check with a pencil."""

import numpy as np
from pencil import material

LR, B = "optimizer.lr", "batch"
# Run `a` is part of both sweeps. One training of `b` met no rule; one of `c` diverged.
POINTS = [
    ("alpha", "a", {LR: 0.1}),
    ("alpha", "b", {LR: 0.2}),
    ("batch", "a", {B: 5}),
    ("batch", "c", {B: 10}),
]
UNMET, DIVERGED = {("b", 1)}, {("c", 1)}
# sigma_g and sigma_w of the directions n = 1, 2, 3.
DIRECTIONS = {
    ("a", 0): ([8.0, 4.0, 1.0], [1.0, 2.0, 3.0]),
    ("a", 1): ([4.0, 2.0, 1.0], [1.0, 4.0, 5.0]),
    ("b", 0): ([6.0, 3.0, 1.0], [2.0, 2.0, 2.0]),
    ("b", 1): ([2.0, 1.0, 1.0], [4.0, 6.0, 8.0]),
    ("c", 0): ([3.0, 2.0, 1.0], [1.0, 1.0, 1.0]),
}
NAMES = ["dual_gap", "gap_sharp", "gap_flat", "n_sharp", "pairwise_gap", "mu_gap", "test_error"]
SUMMARIES = {
    ("a", 0): [0.25, 0.5, -0.25, 1, 0.25, 0.0, 0.125],
    ("a", 1): [0.75, 0.5, 0.25, 3, 1.0, 0.25, 0.25],
    ("b", 0): [1.0, 0.75, 0.25, 2, 1.25, 0.25, 0.5],
    ("b", 1): [2.0, 1.25, 0.75, 1, 2.5, 0.5, 0.375],
    ("c", 0): [0.5, 0.25, 0.25, 2, 0.5, 0.0, 0.25],
}


def made(diverged="", summaries=SUMMARIES, directions=DIRECTIONS):
    """The tables above; all trainings of some runs may have diverged."""
    rows = [
        {"run": run, "seed": seed, "n": n, "sigma_g": g, "S_w": size, "correlation": 0.5}
        for (run, seed), (sigma_g, sigma_w) in directions.items()
        for n, g, size in zip((1, 2, 3), sigma_g, np.cumsum(sigma_w), strict=True)
    ]
    summary = [
        {"run": run, "seed": seed}
        | dict(zip(NAMES, numbers, strict=True))
        | {"S_w": sum(DIRECTIONS[run, seed][1]), "S_w_curved": DIRECTIONS[run, seed][1][0]}
        for (run, seed), numbers in summaries.items()
    ]
    gone = DIVERGED | {(run, seed) for run in diverged for seed in (0, 1)}
    return material(POINTS, UNMET, gone, hidden_directions=rows, hidden_summary=summary)
