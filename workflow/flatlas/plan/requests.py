"""How a rule requests resources, and where libraries read their number of threads."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from flatlas.errors import FlatlasError

# Every job reads THREAD_VARIABLES, and has no use for the lookup.
if TYPE_CHECKING:
    from snakemake.jobs import Job as Running

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

# Estimates of memory are upper bounds, often several times too high.
MARGIN = 4

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
    """Whether the plan knows the size of the net. Of a user's own it assumes a large one."""
    net = job.spec.get("run", job.spec).get("net", {})
    return bool(net.get("family") != "own")


def gpu_request(jobs: Mapping[str, "Job"], by_gres: bool) -> dict[str, Asked]:
    """The resource that asks for the GPUs of a job, whose id is the first wildcard.

    Snakemake and most clusters know it as `gpu`; some clusters want `gres`, and never both.
    """
    if not by_gres:
        return {"gpu": lambda wildcards: jobs[wildcards[0]].gpus}
    return {"gres": lambda wildcards: f"gpu:{n}" if (n := jobs[wildcards[0]].gpus) else ""}


def wants_gpu(resources: Mapping[str, Any]) -> bool:
    """Whether a rule requests a GPU, in either of these forms."""
    return bool(resources.get("gpu") or resources.get("gres"))
