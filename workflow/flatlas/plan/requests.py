"""How a rule asks for resources that depend on the job, or on how often it was tried."""

from collections.abc import Callable
from typing import Any

Asked = Callable[..., int | str]


def growing(amount: int) -> Asked:
    """A resource that is as many times the amount as the job has been tried."""
    return lambda wildcards, attempt: attempt * amount


def gpu_request(count: Callable[[Any], int], by_gres: bool) -> dict[str, Asked]:
    """The resource that asks for GPUs, whose number depends on a job's wildcards.

    Snakemake and most clusters know it as `gpu`; some clusters want `gres`, and never both.
    """
    if not by_gres:
        return {"gpu": count}
    return {"gres": lambda wildcards: f"gpu:{n}" if (n := count(wildcards)) else ""}
