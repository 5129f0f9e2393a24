"""Makes Snakemake compute once what it otherwise recomputes for each job, edge and file.

With a thousand jobs, this saves a third of a dry run (docs/decisions.md). Snakemake has no setting
for it, so four of its functions are replaced by faster ones that return the same values.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snakemake.jobs import Job
    from snakemake.rules import Rule


def work_out_once() -> None:
    """Replace the four functions, for the rest of this process."""
    _signatures()
    _scripts()
    _producers()
    _flags()


def _signatures() -> None:
    """Cache the parameters of a rule's function: Snakemake inspects them up to 3 times per call."""
    from snakemake import common, rules

    inspect = common.get_function_params
    inspected: dict[Callable[..., Any], Mapping[str, Any]] = {}

    def get_function_params(func: Callable[..., Any]) -> Mapping[str, Any]:
        # A method is a new object at each use; its function is the same.
        function = getattr(func, "__func__", func)
        if function not in inspected:
            inspected[function] = inspect(func)
        return inspected[function]

    common.get_function_params = rules.get_function_params = get_function_params


def _scripts() -> None:
    """Cache whether a rule's script can be read. None of ours has a wildcard in its name."""
    from snakemake.dag import ScriptProcessor

    check = ScriptProcessor.process_job
    checked: set[tuple[ScriptProcessor, Rule]] = set()

    def process_job(self: ScriptProcessor, job: "Job") -> None:
        if (self, job.rule) not in checked:
            check(self, job)
            checked.add((self, job.rule))

    ScriptProcessor.process_job = process_job


def _producers() -> None:
    """Cache the rules that make a file: Snakemake searches again for each job that reads it."""
    from snakemake.output_index import OutputIndex

    OutputIndex.match_producers = cache(OutputIndex.match_producers)


def _flags() -> None:
    """Speed up the check for files that are temporary, pipes or in storage: 500,000 calls.

    Snakemake's own function first checks for an instance of an abstract class, which is slow.
    """
    from snakemake import dag, io, jobs, rules
    from snakemake.io import fmt

    def is_flagged(value: Any, flag: str) -> bool:
        return bool(getattr(value, "flags", {}).get(flag, False))

    for module in (io, fmt, jobs, rules, dag):
        module.is_flagged = is_flagged
