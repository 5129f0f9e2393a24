"""What a job is given to compute with."""

from collections.abc import Mapping
from typing import Any


def wants_gpu(resources: Mapping[str, Any]) -> bool:
    """Whether a rule asks for a GPU, in either of the ways that clusters know."""
    return bool(resources.get("gpu") or resources.get("gres"))
