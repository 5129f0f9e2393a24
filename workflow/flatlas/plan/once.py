"""Have Snakemake work out once what it works out again for each job, edge and file.

With a thousand jobs that is a third of a dry run (docs/speed.md). Snakemake has no setting for it,
so this replaces four of its functions by ones that give the same answers.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snakemake.jobs import Job
    from snakemake.rules import Rule


def work_out_once() -> None:
    """Replace the four, for the rest of this process."""
    _signatures()
    _scripts()
    _producers()
    _flags()


def _signatures() -> None:
    """The parameters of a rule's function, which Snakemake inspects up to three times a call."""
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
    """Whether a rule's script can be read. None of ours has a wildcard in its name."""
    from snakemake.dag import ScriptProcessor

    check = ScriptProcessor.process_job
    checked: set[tuple[ScriptProcessor, Rule]] = set()

    def process_job(self: ScriptProcessor, job: "Job") -> None:
        if (self, job.rule) not in checked:
            check(self, job)
            checked.add((self, job.rule))

    ScriptProcessor.process_job = process_job


def _producers() -> None:
    """The rules that make a file, which Snakemake looks for again for each job that reads it."""
    from snakemake.output_index import OutputIndex

    OutputIndex.match_producers = cache(OutputIndex.match_producers)


def _flags() -> None:
    """Whether a file is temporary, a pipe or in storage, which is asked half a million times.

    Snakemake's own looks first whether the file is an instance of an abstract class: slow.
    """
    from snakemake import dag, io, jobs, rules
    from snakemake.io import fmt

    def is_flagged(value: Any, flag: str) -> bool:
        return bool(getattr(value, "flags", {}).get(flag, False))

    for module in (io, fmt, jobs, rules, dag):
        module.is_flagged = is_flagged
