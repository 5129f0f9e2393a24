"""The small print of a figure about its trainings."""

from flatlas.evidence.material import Material


def small_print(material: Material) -> str:
    """The numbers of realizations and of those that met no stopping rule, and the reasons."""
    runs = material.trainings
    counts = runs.groupby("run").size()
    fewest, most = counts.min(), counts.max()
    number = f"{most}" if fewest == most else f"{fewest} to {most}"
    text = f"{number} realization{'s' if most > 1 else ''} a run."
    failed = runs[~runs["converged"]]
    if len(failed):
        reasons = failed["reason"].value_counts().items()
        each = ", ".join(f"{reason}: {count}" for reason, count in reasons)
        text += (
            f" Of {len(runs)} trainings {len(failed)} met no stopping rule ({each});"
            " hollow or dashed: with such trainings. Diverged ones are left out."
        )
    return text
