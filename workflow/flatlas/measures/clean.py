"""The training set S: the images that a net was trained on with their true labels."""

from flatlas.errors import FlatlasError
from flatlas.measures.solution import Solution


def on_clean(solution: Solution) -> Solution:
    """The same solution with training set S only, without its attack set A."""
    clean = solution.clean.squeeze(0)
    if not clean.any():
        raise FlatlasError(
            f"none of the {len(clean)} training images of seed {solution.seed} has its true label, "
            "but this measure uses only those: leave some labels unchanged."
        )
    return solution.on(clean)
