"""How the claims of the studies in docs/gallery came out, and how to read a verdict."""

import sys

import pandas as pd
from pages import ROOT, table

sys.path.insert(0, str(ROOT / "workflow"))

from flatlas.report.rendering import render
from flatlas.report.verdicts import count_verdicts


def summary() -> str:
    """A row for each scale of each study that has a gallery."""
    rows = []
    for scorecard in sorted((ROOT / "docs" / "gallery").glob("*/scorecard.csv")):
        name = scorecard.parent.name
        link = f"[`{name}`](docs/gallery/{name}/README.md)"
        # The page shows the file that changed settings of the preset.
        page = (scorecard.parent / "README.md").read_text(encoding="utf-8")
        smaller = ", partly smaller" if "\n    studies:\n" in page else ""
        for preset, claims in pd.read_csv(scorecard).groupby("preset", sort=False):
            verdicts = count_verdicts(claims)
            ours = " · ".join(map(str, verdicts.ours.values())) if verdicts.asked else ""
            counts = verdicts.claimed, *verdicts.papers.values(), ours
            rows.append([link, f"`{preset}`{smaller}", *counts])
    names = ["study", "scale", "claims", "✓ reproduced", "✗ not", "? undecided", "ours: ✓ · ✗ · ?"]
    return table(names, rows)


VERDICTS = {"verdicts": summary, "reading": lambda: render("reading.txt")}
