"""How the claims of the studies in docs/gallery came out, and how to read a verdict."""

import sys

import pandas as pd
from gallery import scale
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
        for preset, claims in pd.read_csv(scorecard).groupby("preset", sort=False):
            verdicts = count_verdicts(claims)
            ours = " · ".join(map(str, verdicts.ours.values())) if verdicts.asked else ""
            counts = verdicts.claimed, *verdicts.papers.values(), ours
            rows.append([link, scale(preset, scorecard.parent), *counts])
    names = ["study", "scale", "claims", "✓ reproduced", "✗ not", "? undecided", "ours: ✓ · ✗ · ?"]
    return table(names, rows)


VERDICTS = {"verdicts": summary, "reading": lambda: render("reading.txt")}
