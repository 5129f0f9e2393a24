"""Recorded trajectories for solutions of small nets."""

from dataclasses import replace

import numpy as np


def with_recording(solution, layer, steps=60, seed=0):
    """The solution with a trajectory of one layer that ends at it, wide in some directions."""
    weights = solution.parameters[f"{layer}.weight"].flatten().numpy()
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(weights.size, weights.size)) * np.geomspace(1, 1e-2, weights.size)
    noise = 0.1 * rng.normal(size=(steps, weights.size)) @ mixed.T
    trajectory = (weights + noise - noise[-1]).astype(np.float32)
    return replace(solution, trajectory=trajectory)
