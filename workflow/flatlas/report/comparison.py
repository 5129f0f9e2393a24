"""Two scorecards side by side, as a page and in a few lines."""

import pandas as pd

from flatlas.claims.comparison import ALIKE, CRITERION, MOVED, NUMBER, ONLY, SIDES, VERDICT
from flatlas.report.rendering import render

# In the order of the page.
HEADINGS = {
    MOVED: "Moved beyond their intervals",
    CRITERION: "Judged by another criterion",
    VERDICT: "Another verdict for the same number within its interval",
    **{only: only.capitalize() for only in ONLY.values()},
    ALIKE: "Alike",
}


def comparison_page(compared: pd.DataFrame, before: str, after: str) -> str:
    """All claims of both, by how they changed."""
    return render(
        "comparison.html",
        compared=compared,
        before=before,
        after=after,
        headings=HEADINGS,
        criterion_changed=CRITERION,
    )


def summary(compared: pd.DataFrame) -> str:
    """How many claims changed in which way, and a line for each number or verdict that did."""
    counts = compared["change"].value_counts()
    changes = [f"{counts[change]} {change}" for change in HEADINGS if change and change in counts]
    lines = [f"{len(compared)} claims: {', '.join(changes) or 'all alike'}."]
    for claim in compared[compared["change"] == MOVED].to_dict("records"):
        numbers = " → ".join(
            "{:.3g} [{:.3g}, {:.3g}]".format(*(claim[f"{name}_{side}"] for name in NUMBER))
            for side in SIDES
        )
        lines.append(f"  {claim['claim']}: {numbers}")
    for claim in compared[compared["change"].isin([CRITERION, VERDICT])].to_dict("records"):
        lines.append(f"  {claim['claim']}: {claim['verdict_before']} → {claim['verdict_after']}")
    return "\n".join(lines)
