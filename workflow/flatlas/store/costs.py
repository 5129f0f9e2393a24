"""The cost of a job, from the provenance beside its results."""

from pathlib import Path

from flatlas.store.provenance import read_provenance


def read_cost(path: str | Path) -> dict[str, float]:
    """Wall time in seconds and peak memory in MiB.

    An interrupted training counts all its epochs, not only those since it resumed.
    """
    record = read_provenance(path)
    seconds = max(record["wall_seconds"], record.get("training_seconds", 0.0))
    return {"seconds": seconds, "peak_mib": record["peak_memory_mib"]}
