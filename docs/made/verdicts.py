"""How the claims of the studies in docs/gallery came out."""

import pandas as pd
import yaml
from pages import ROOT, table

VERDICTS_IN_ORDER = ("reproduced", "not reproduced", "undecided")


def summary() -> str:
    """A row a study that has a gallery."""
    rows = []
    for scorecard in sorted((ROOT / "docs" / "gallery").glob("*/scorecard.csv")):
        study = scorecard.parent.name
        told = yaml.safe_load((ROOT / "config" / "studies" / f"{study}.yaml").read_text())
        claims = pd.read_csv(scorecard)
        counts = [int((claims["verdict"] == one).sum()) for one in VERDICTS_IN_ORDER]
        scales = ", ".join(sorted(set(claims["preset"]), reverse=True))
        link = f"[{told['title']}](docs/gallery/{study}/README.md)"
        rows.append([link, len(claims), *counts, scales])
    return table(["study", "claims", "✓ reproduced", "✗ not", "? undecided", "scale"], rows)


VERDICTS = {"verdicts": summary}
