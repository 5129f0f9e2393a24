"""Whether a figure is drawn, and as it would be now: pages tell of whatever lies there."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

OUTDATED = "Drawn with other settings, or by other code, than the present ones."


def is_drawn(told: Mapping[str, Any]) -> bool:
    """One job writes all `files` and the picture of a figure: one that lacks any is not drawn."""
    return all(Path(file).is_file() for file in (*told["files"].values(), told["picture"]))


def record(told: Mapping[str, Any]) -> dict[str, Any]:
    """What was written down of a figure when it was drawn."""
    text = Path(told["files"]["provenance"]).read_text(encoding="utf-8")
    return dict(json.loads(text))


def is_outdated(told: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether its `spec` or its `code` is another than in the record of when it was drawn."""
    now = json.loads(json.dumps({"spec": told["spec"], "code": told["code"]}))
    return any(before[key] != now[key] for key in now)


def outdated(claims: pd.DataFrame) -> pd.DataFrame:
    """The same claims, each with a note that its figure is."""
    notes = claims["note"].fillna("")
    return claims.assign(note=(notes + " " + OUTDATED).str.strip())
