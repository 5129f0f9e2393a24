"""How rules request resources, and the variables in which libraries find their thread count."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from flatlas.errors import FlatlasError

# Every job imports THREAD_VARIABLES from here and must not load the lookup.
if TYPE_CHECKING:
    from snakemake.jobs import Job as Running

    from flatlas.plan.lookup import Job

# Numerical libraries read their number of threads from these. Snakemake sets the same ones.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)

# Estimates of memory are upper bounds, often several times too high.
MARGIN = 4

Request = Callable[..., int | str]


def growing(amount: int) -> Request:
    """A resource that grows with each attempt: the amount times the number of attempts."""
    return lambda wildcards, attempt: attempt * amount


def memory_and_time(jobs: Mapping[str, "Job"]) -> dict[str, Request]:
    """The memory and time that a job requests. The job's id is the rule's only wildcard."""
    return {
        "mem_mb": lambda wildcards, attempt: attempt * jobs[wildcards[0]].mem_mb,
        "runtime": lambda wildcards, attempt: attempt * jobs[wildcards[0]].runtime,
    }


def refuse_beyond_machine(running: Iterable["Running"], jobs: Mapping[str, "Job"]) -> None:
    """Refuse to begin a job whose estimated memory is far beyond that of this machine."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 10**6
    for job in running:
        needed, name = job.resources.get("mem_mb", 0), "".join(job.wildcards)
        if needed > MARGIN * machine and name in jobs and _has_known_net(jobs[name]):
            raise FlatlasError(
                f"{job.rule.name} {name} would need up to {needed:,} MB of memory, but this "
                f"machine has {machine:,} MB. Make its net or its data smaller, or run it on a "
                "larger machine. If you know that it fits, add "
                f"--set-resources {job.rule.name}:mem_mb={machine}."
            )


def _has_known_net(job: "Job") -> bool:
    """Whether the plan knows the size of the net. A user's own net is assumed to be large."""
    net = job.spec.get("run", job.spec).get("net", {})
    return bool(net.get("family") != "own")


def gpu_request(jobs: Mapping[str, "Job"], by_gres: bool) -> dict[str, Request]:
    """The resource that asks for the GPUs of a job, whose id is the first wildcard.

    Snakemake and most clusters call it `gpu`; some clusters call it `gres`. No cluster takes both.
    """
    if not by_gres:
        return {"gpu": lambda wildcards: jobs[wildcards[0]].gpus}
    return {"gres": lambda wildcards: f"gpu:{n}" if (n := jobs[wildcards[0]].gpus) else ""}


def wants_gpu(resources: Mapping[str, Any]) -> bool:
    """Whether a rule requests a GPU, in either of these forms."""
    return bool(resources.get("gpu") or resources.get("gres"))
