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
        # Its page names the settings that were laid over the preset.
        page = (scorecard.parent / "README.md").read_text(encoding="utf-8")
        smaller = ", partly smaller" if "\n    studies:\n" in page else ""
        for preset, claims in pd.read_csv(scorecard).groupby("preset", sort=False):
            own = claims["whose"] == "flatlas"
            ours = " · ".join(map(str, _counts(claims[own]))) if own.any() else ""
            rows.append([link, f"`{preset}`{smaller}", (~own).sum(), *_counts(claims[~own]), ours])
    names = ["study", "scale", "claims", "✓ reproduced", "✗ not", "? undecided", "ours: ✓ · ✗ · ?"]
    return table(names, rows)


def _counts(claims: pd.DataFrame) -> list[int]:
    return [int((claims["verdict"] == one).sum()) for one in VERDICTS_IN_ORDER]


VERDICTS = {"verdicts": summary}
