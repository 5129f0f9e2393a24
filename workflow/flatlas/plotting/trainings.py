"""What the small print of a figure says of the trainings behind it."""

from flatlas.evidence.material import Material


def small_print(material: Material) -> str:
    """How many realizations there are, and how many never met their stopping rule, and why."""
    runs = material.trainings
    most = runs.groupby("run").size().max()
    text = f"{most} realization{'s' if most > 1 else ''} a run."
    failed = runs[~runs["converged"]]
    if len(failed):
        reasons = failed["reason"].value_counts().items()
        counts = ", ".join(f"{reason}: {count}" for reason, count in reasons)
        text += (
            f" Of {len(runs)} trainings {len(failed)} met no stopping rule ({counts});"
            " hollow or dashed: with such. Diverged ones are left out."
        )
    return text
