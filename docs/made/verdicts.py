"""How the claims of the studies in docs/gallery came out, and how to read a verdict."""

from gallery import GALLERY, scale, scorecard_files
from pages import table

from flatlas.report.published import published
from flatlas.report.rendering import render


def summary() -> str:
    """A row for each scale of each study that has a gallery."""
    rows = []
    for one in published(scorecard_files()):
        verdicts = one.verdicts
        link = f"[`{one.name}`](docs/gallery/{one.name}/README.md)"
        ours = " · ".join(map(str, verdicts.ours.values())) if verdicts.questions else ""
        counts = verdicts.claimed, *verdicts.papers.values(), ours
        rows.append([link, scale(one.preset, GALLERY / one.name), *counts])
    names = ["study", "scale", "claims", "✓ reproduced", "✗ not", "? undecided", "ours: ✓ · ✗ · ?"]
    return table(names, rows)


VERDICTS = {"verdicts": summary, "reading": lambda: render("reading.txt")}
