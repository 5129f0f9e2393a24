"""The plan as a graph: what the DAG picture shows."""

from collections.abc import Iterable
from typing import Any

from flatlas.plan.data_specs import subset_of
from flatlas.plan.ids import kernel_id, run_id, samples_id, source_id
from flatlas.plan.kernel_specs import sampled_kernel
from flatlas.plan.measure_specs import second_task
from flatlas.plan.plan import Plan


def stages(plan: Plan) -> dict[str, Any]:
    """Nodes by stage, left to right, and the pairs of nodes where one feeds the other.

    `studies` has the study of each node that serves one alone.
    """
    edges: set[tuple[str, str]] = set()
    for samples in plan.samples.values():
        subset = subset_of(samples)
        edges.add((source_id(subset.source), samples_id(subset)))
        if samples is not subset:
            edges.add((samples_id(subset), samples_id(samples)))
    for identity, run in plan.runs.items():
        edges.add((samples_id(run.samples), identity))
        if run.start is not None:
            edges.add((run_id(run.start.run), identity))
    for identity, sampled in plan.kernels.items():
        edges.add((samples_id(sampled.samples), identity))
    for identity, measurement in plan.measurements.items():
        edges.add((run_id(measurement.run), identity))
        kernel = sampled_kernel(measurement)
        if kernel is not None:
            edges.add((kernel_id(kernel), identity))
        second = second_task(measurement)
        if second is not None:
            edges.add((samples_id(second), identity))
    for target, figure in plan.figures.items():
        for entry in figure.entries:
            edges.update((one, target) for one in entry.measurements.values() or [entry.run])
    nodes = {
        "data sources": list(plan.sources),
        "subsets, attack sets": list(plan.samples),
        "training": list(plan.runs),
        "kernels": list(plan.kernels),
        "measures": list(plan.measurements),
        "figures": list(plan.figures),
    }
    users: dict[str, set[str]] = {}
    for target, needed in needed_by(plan.figures, edges).items():
        for name in needed:
            users.setdefault(name, set()).add(plan.figures[target].study)
    # In order: as a parameter of a job it has to be told alike each time.
    own = {name: min(users[name]) for name in sorted(users) if len(users[name]) == 1}
    return {"nodes": nodes, "edges": sorted(edges), "studies": own}


def needed_by(targets: Iterable[str], edges: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """For each target all nodes that feed it, one through another, and itself."""
    feeding: dict[str, list[str]] = {}
    for source, fed in edges:
        feeding.setdefault(fed, []).append(source)
    found: dict[str, set[str]] = {}
    for target in targets:
        needed, waiting = {target}, [target]
        while waiting:
            more = set(feeding.get(waiting.pop(), ())) - needed
            needed |= more
            waiting += more
        found[target] = needed
    return found
