"""What a job took, from the provenance beside its results."""

import json
from pathlib import Path

import pandas as pd


def read_cost(path: str | Path) -> pd.DataFrame:
    """One row: wall time in seconds and the most memory in MiB."""
    record = json.loads(Path(path).read_text())
    told = {"seconds": record["wall_seconds"], "memory_mib": record["peak_memory_mib"]}
    return pd.DataFrame([told])
