"""The claims that were judged on real data, as the galleries in docs/gallery publish them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml

from flatlas.claims.written import read_claims
from flatlas.report.verdicts import Verdicts, count_verdicts

SCORECARD, DRAWN = "scorecard.csv", "drawn.yaml"


@dataclass(frozen=True)
class Published:
    """The claims of a study that were judged at one preset, some with `smaller` settings."""

    name: str
    preset: str
    smaller: bool
    claims: pd.DataFrame

    @property
    def verdicts(self) -> Verdicts:
        """The verdicts on these claims, counted."""
        return count_verdicts(self.claims)


def published(scorecards: Iterable[Path]) -> list[Published]:
    """The claims of each study and preset, from the scorecards of galleries."""
    return [
        Published(file.parent.name, str(preset), is_smaller(file.parent), claims)
        for file in scorecards
        for preset, claims in read_claims(file).groupby("preset", sort=False)
    ]


def is_smaller(gallery: Path) -> bool:
    """Whether the configuration file of a gallery changed studies."""
    drawn = yaml.safe_load((gallery / DRAWN).read_text(encoding="utf-8"))
    if "configfile" not in drawn:
        return False
    own = yaml.safe_load((gallery / drawn["configfile"]).read_text(encoding="utf-8"))
    return "studies" in own
