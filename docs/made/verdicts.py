"""How the claims of the studies in docs/gallery came out."""

import pandas as pd
import yaml
from pages import ROOT, table

VERDICTS_IN_ORDER = ("reproduced", "not reproduced", "undecided")


def summary() -> str:
    """A row for each scale of each study that has a gallery."""
    rows = []
    for scorecard in sorted((ROOT / "docs" / "gallery").glob("*/scorecard.csv")):
        study = scorecard.parent.name
        told = yaml.safe_load((ROOT / "config" / "studies" / f"{study}.yaml").read_text())
        link = f"[{told['title']}](docs/gallery/{study}/README.md)"
        for preset, claims in pd.read_csv(scorecard).groupby("preset", sort=False):
            counts = [int((claims["verdict"] == one).sum()) for one in VERDICTS_IN_ORDER]
            rows.append([link, f"`{preset}`", len(claims), *counts])
    return table(["study", "scale", "claims", "✓ reproduced", "✗ not", "? undecided"], rows)


VERDICTS = {"verdicts": summary}
