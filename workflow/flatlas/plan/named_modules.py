"""Checks that every net family, optimizer, measure and source that a plan names has its module."""

from flatlas.errors import FlatlasError
from flatlas.plan.fingerprint import LIBRARY, find
from flatlas.plan.plan import Plan


def check_modules(plan: Plan) -> None:
    """Refuse a name whose module is missing, before anything is trained."""
    named = {f"flatlas.data.sources.{source.kind}" for source in plan.sources.values()}
    for run in plan.runs.values():
        named.add(f"flatlas.nets.{run.net.family}")
        named.add(f"flatlas.training.optimizers.{run.optimizer.name}")
    for measured in plan.measurements.values():
        named.add(f"flatlas.measures.{measured.options.measure}")
    for module in sorted(named):
        if find(module) is None:
            path = LIBRARY.parent.joinpath(*module.split(".")).with_suffix(".py")
            shown = path.relative_to(LIBRARY.parents[1])
            raise FlatlasError(
                f"'{path.stem}' has a spec, but {shown} is not there: docs/ says what goes into it."
            )
