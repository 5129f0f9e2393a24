"""The small print of a figure about its trainings."""

import pandas as pd

from flatlas.evidence.material import DOT, Material
from flatlas.reasons import counted


def small_print(material: Material) -> str:
    """How many realizations there are, how many trainings met no stopping rule, and why."""
    runs = material.trainings
    counts = runs.groupby("run").size()
    fewest, most = counts.min(), counts.max()
    number = f"{most}" if fewest == most else f"{fewest} to {most}"
    text = f"{number} realization{'s' if most > 1 else ''} a run."
    failed = runs[~runs["converged"]]
    if len(failed):
        text += (
            f" Of {len(runs)} trainings {len(failed)} met no stopping rule"
            f" ({counted(failed['reason'])});"
            " hollow or dashed: with such trainings. Diverged ones are left out."
        )
    return text


def zero_error(material: Material, points: pd.DataFrame) -> str:
    """How many nets have no dot among these points, because they never had zero error on S."""
    nets = len(material.tables["outcomes"].drop_duplicates(DOT))
    never = nets - len(points.drop_duplicates(DOT))
    if never:
        return f"Of {nets} nets {never} never had zero error on S."
    return f"All {nets} nets reached zero error on S."
