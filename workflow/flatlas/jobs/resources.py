"""The resources that a job gets."""

from collections.abc import Mapping
from typing import Any


def wants_gpu(resources: Mapping[str, Any]) -> bool:
    """Whether a rule requests a GPU, in either of the forms that clusters use."""
    return bool(resources.get("gpu") or resources.get("gres"))
