"""Labels that are wrong on purpose."""

import numpy as np

from flatlas.errors import FlatlasError


def wrong_labels(
    labels: np.ndarray, allowed: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """A wrong label for each, uniform over the other `allowed` labels (sorted, unique)."""
    if len(allowed) < 2:
        raise FlatlasError(
            f"a wrong label needs two classes, but all images have the label {allowed[0]}. "
            "Pick more classes, or leave some of them out of `positive`."
        )
    further = generator.integers(1, len(allowed), size=len(labels))
    return allowed[(np.searchsorted(allowed, labels) + further) % len(allowed)]
