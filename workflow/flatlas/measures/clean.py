"""The training set S proper: the images that a net was trained on with their true labels."""

from dataclasses import replace

from flatlas.errors import FlatlasError
from flatlas.measures.solution import Solution


def on_clean(solution: Solution) -> Solution:
    """The same solution, as if it had been trained on S alone, without its attack set A."""
    clean = solution.clean.squeeze(0)
    if not clean.any():
        raise FlatlasError(
            f"none of the {len(clean)} training images of seed {solution.seed} has its true label, "
            "and only those that do are looked at here: leave some of them as they are."
        )
    return replace(
        solution,
        inputs=solution.inputs[:, clean],
        labels=solution.labels[:, clean],
        clean=solution.clean[:, clean],
    )
