"""How a rule requests resources, and where libraries read their number of threads."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

# Every job reads THREAD_VARIABLES, and has no use for the lookup.
if TYPE_CHECKING:
    from flatlas.plan.lookup import Job

# The variables in which numerical libraries find their number of threads; Snakemake sets the same.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)

Asked = Callable[..., int | str]


def growing(amount: int) -> Asked:
    """A resource that is as many times the amount as the job has been tried."""
    return lambda wildcards, attempt: attempt * amount


def asked(jobs: Mapping[str, "Job"]) -> dict[str, Asked]:
    """The memory and time that a job of a rule with one wildcard, its id, requests."""
    return {
        "mem_mb": lambda wildcards, attempt: attempt * jobs[wildcards[0]].mem_mb,
        "runtime": lambda wildcards, attempt: attempt * jobs[wildcards[0]].runtime,
    }


def gpu_request(count: Callable[[Any], int], by_gres: bool) -> dict[str, Asked]:
    """The resource that asks for GPUs, whose number depends on a job's wildcards.

    Snakemake and most clusters know it as `gpu`; some clusters want `gres`, and never both.
    """
    if not by_gres:
        return {"gpu": count}
    return {"gres": lambda wildcards: f"gpu:{n}" if (n := count(wildcards)) else ""}
