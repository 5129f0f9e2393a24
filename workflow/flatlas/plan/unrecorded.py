"""Results of which Snakemake has no record: copied without `.snakemake`, or it was deleted."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.store.json_files import read_json


def made_otherwise(provenance: str | Path, spec: Mapping[str, Any], code: str) -> bool:
    """Whether the provenance of a result names another spec or code than its job has now.

    One that is missing or damaged does not count: Snakemake and `verify` deal with it.
    """
    try:
        record = read_json(provenance)
        return bool(record["spec"] != spec or record["code"] != code)
    except (FlatlasError, KeyError, TypeError):
        return False
